"""Shared by the training scripts: a reproducible start, int8 conversion, accuracy on the PC."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


def start(seed: int) -> Any:
    """TensorFlow with every source of randomness seeded and its operators deterministic."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    return tf


def to_int8(network: Any, input_name: str, calibration: Images) -> bytes:
    """A Keras network as a .tflite file: int8 throughout, batch norm folded, batch of exactly 1."""
    import tensorflow as tf

    one_image = tf.TensorSpec((1, *calibration.shape[1:]), tf.float32, name=input_name)
    graph = tf.function(lambda image: network(image, training=False))
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [graph.get_concrete_function(one_image)]
    )
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in calibration)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    # Older TFLM kernels know only one scale per fully connected layer.
    converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    return bytes(converter.convert())


def float_accuracy(network: Any, images: Images, labels: Labels) -> float:
    """Share of the images that the float network classifies correctly."""
    scores = network.predict(images, verbose=0)
    return float(np.mean(scores.argmax(axis=-1) == labels))


def int8_accuracy(content: bytes, images: Images, labels: Labels) -> float:
    """Share of the images that the .tflite file classifies correctly in LiteRT."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    image_in, scores_out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    scale, zero_point = image_in["quantization"]
    quantised = np.clip(np.round(images / scale) + zero_point, -128, 127).astype(np.int8)
    correct = 0
    for image, label in zip(quantised, labels, strict=True):
        interpreter.set_tensor(image_in["index"], image[np.newaxis])
        interpreter.invoke()
        correct += int(interpreter.get_tensor(scores_out["index"]).argmax() == label)
    return correct / len(labels)

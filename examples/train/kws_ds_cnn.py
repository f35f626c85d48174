"""Train a DS-CNN of the keyword-spotting shape: input 49x10x1, 64 filters, 12 classes, int8.

    pip install tensorflow scikit-learn ai-edge-litert
    python examples/train/kws_ds_cnn.py

It has the shape of keyword spotting, not its data: no speech goes in. The stand-ins for the
spectrograms are the handwritten digits that scikit-learn ships, stretched to 49x10: ten classes of
digits, one of almost blank images in the place of "silence" and one of digits with shuffled pixels
in the place of "unknown". Latency, memory and the table of layers are those of a keyword spotter;
what it recognises is not. Writes ``examples/models/kws_ds_cnn.tflite``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from int8 import Images, Labels, float_accuracy, int8_accuracy, start, to_int8
from reshape import restore_reshape

MODELS = Path(__file__).parent.parent / "models"
INPUT_NAME = "spectrogram"
FRAMES, FEATURES = 49, 10
FILTERS = 64
CLASSES = 12
SILENCE, UNKNOWN = 10, 11
SEED = 1
EPOCHS = 12


def silence(count: int, rng: np.random.Generator) -> Images:
    """Almost blank 8x8 images: nothing but a little noise."""
    return rng.uniform(0, 0.1, (count, 8, 8)).astype(np.float32)


def unknown(digits: Images, count: int, rng: np.random.Generator) -> Images:
    """As many 8x8 images that are no digit: the pixels of digits in random order."""
    chosen = rng.choice(digits, count).reshape(count, 64)
    return rng.permuted(chosen, axis=1).reshape(count, 8, 8)


def load_data(tf: Any) -> tuple[Images, Images, Labels, Labels]:
    """Training images, test images (each n x 49 x 10 x 1), training labels, test labels."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(SEED)
    data = load_digits()
    digits = (data.images / 16).astype(np.float32)
    extra = len(digits) // 10
    images = np.concatenate([digits, silence(extra, rng), unknown(digits, extra, rng)])
    labels = np.concatenate([data.target, [SILENCE] * extra, [UNKNOWN] * extra])
    stretched = tf.image.resize(images[..., np.newaxis], (FRAMES, FEATURES)).numpy()
    split: tuple[Images, Images, Labels, Labels] = train_test_split(
        stretched, labels, test_size=0.2, stratify=labels, random_state=SEED
    )
    return split


def convolution(layers: Any, convolve: Any) -> list[Any]:
    """One convolution with its batch norm, which the conversion folds into the weights."""
    return [convolve, layers.BatchNormalization(), layers.ReLU()]


def build(tf: Any) -> Any:
    """One 10x4 convolution, four depthwise separable blocks, average pooling and 12 classes."""
    layers = tf.keras.layers
    same = {"padding": "same", "use_bias": False}
    network = tf.keras.Sequential([layers.Input((FRAMES, FEATURES, 1))])
    stack = convolution(layers, layers.Conv2D(FILTERS, (10, 4), strides=2, **same))
    for _ in range(4):
        stack += convolution(layers, layers.DepthwiseConv2D(3, **same))
        stack += convolution(layers, layers.Conv2D(FILTERS, 1, **same))
    stack += [
        layers.AveragePooling2D((25, 5)),
        layers.Flatten(),
        layers.Dense(CLASSES, activation="softmax"),
    ]
    for layer in stack:
        network.add(layer)
    return network


def main() -> None:
    """Train, convert, write the model and print how accurate it is."""
    tf = start(SEED)
    train_images, test_images, train_labels, test_labels = load_data(tf)
    network = build(tf)
    rate = tf.keras.optimizers.schedules.CosineDecay(3e-3, EPOCHS * -(-len(train_images) // 32))
    network.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy")
    network.fit(train_images, train_labels, batch_size=32, epochs=EPOCHS, verbose=2)

    content = restore_reshape(to_int8(network, INPUT_NAME, train_images[:300]))
    MODELS.mkdir(exist_ok=True)
    (MODELS / "kws_ds_cnn.tflite").write_bytes(content)

    print(f"kws_ds_cnn.tflite: {len(content)} bytes")
    print(f"test accuracy, float: {float_accuracy(network, test_images, test_labels):.4f}")
    print(f"test accuracy, int8: {int8_accuracy(content, test_images, test_labels):.4f}")


if __name__ == "__main__":
    main()

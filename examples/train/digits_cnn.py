"""Train the digits classifier of the examples: 8x8 handwritten digits, 10 classes, an int8 CNN.

    pip install tensorflow scikit-learn ai-edge-litert
    python examples/train/digits_cnn.py

The data is the digits set that scikit-learn ships. Writes three files into ``examples/models``:
``digits_cnn.tflite``, ``digits_test.npz`` (the test images as real values, under the name of the
model's input) and ``digits_test_labels.npy``. With ``--wider`` it writes only the model, with half
as many filters again in the third convolution, into ``examples/regression_gate/wider``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from int8 import Images, Labels, float_accuracy, int8_accuracy, start, to_int8

MODELS = Path(__file__).parent.parent / "models"
WIDER = MODELS.parent / "regression_gate" / "wider"
SEED = 1
EPOCHS = 40


def load_data() -> tuple[Images, Images, Labels, Labels]:
    """Training images, test images (each n x 8 x 8 x 1, 0 to 1), training labels, test labels."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = (digits.images[..., np.newaxis] / 16).astype(np.float32)
    split: tuple[Images, Images, Labels, Labels] = train_test_split(
        images, digits.target, test_size=0.2, stratify=digits.target, random_state=SEED
    )
    return split


def build(tf: Any, filters: int = 32) -> Any:
    """Three convolutions, two of them with batch norm, then one fully connected layer.

    ``filters`` are those of the third convolution.
    """
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(12, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2D(24, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2D(filters, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10, activation="softmax"),
        ]
    )


def main() -> None:
    """Train, convert, write the files and print how accurate the model is."""
    tf = start(SEED)
    train_images, test_images, train_labels, test_labels = load_data()
    wider = "--wider" in sys.argv
    network = build(tf, 48 if wider else 32)
    network.compile("adam", "sparse_categorical_crossentropy")
    network.fit(train_images, train_labels, batch_size=32, epochs=EPOCHS, verbose=2)

    content = to_int8(network, "image", train_images[:300])
    folder = WIDER if wider else MODELS
    folder.mkdir(exist_ok=True)
    (folder / "digits_cnn.tflite").write_bytes(content)
    if not wider:
        np.savez_compressed(MODELS / "digits_test.npz", image=test_images)
        np.save(MODELS / "digits_test_labels.npy", test_labels.astype(np.uint8))

    print(f"digits_cnn.tflite: {len(content)} bytes")
    print(f"test accuracy, float: {float_accuracy(network, test_images, test_labels):.4f}")
    print(f"test accuracy, int8: {int8_accuracy(content, test_images, test_labels):.4f}")


if __name__ == "__main__":
    main()

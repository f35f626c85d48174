"""From a model to firmware: generated sources, toolchains, the trees of others, and a cache."""

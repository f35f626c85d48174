"""What users take home: a library, examples, and the characterisation of a model."""

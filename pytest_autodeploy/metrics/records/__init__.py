"""The parts of a record: what stands in reports and crosses process borders, without arrays."""

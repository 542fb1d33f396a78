"""The sample app misbehaves on demand: its consumers succeed, fail, hang or die as their event says."""

"""Commands, each a thin door to functions that pages and API call as well. None needs the extra ``ui``."""

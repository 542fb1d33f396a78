"""Text that anybody may have written, as PostgreSQL can store it."""


def storable(text: str) -> str:
    """Write out what PostgreSQL has no place for: NUL and lone surrogates. Any other text stays as it is.

    >>> storable("東京"), storable("a\\x00b"), storable("\\udcff")
    ('東京', 'a\\\\x00b', '\\\\udcff')
    """
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")

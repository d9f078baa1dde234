from typing import Any

ffi: Any
VERSION: str
SIZES: dict[str, int]

from collections.abc import Iterator

import pytest

from tests.models.loopback import Loopback, serving


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as loopback:
        yield loopback

"""Where the elements of a JSON array end, told by quotes and brackets alone."""

from lookalike.kernels.jit import kernel

QUOTED, ESCAPED = 1, 2
"""At the end of the bytes: a string is open, and its next character follows a backslash."""

_QUOTE, _COMMA, _BACKSLASH = 34, 44, 92
_OPEN_BRACKET, _CLOSE_BRACKET, _OPEN_BRACE, _CLOSE_BRACE = 91, 93, 123, 125


@kernel
def element_commas(data, depth, state, commas):
    """Write the places of the commas between elements, up to the end of the array.

    Gives how many they are, where the bracket stands that closes the array (-1 for nowhere), and
    how many brackets are open at the end of the bytes, with the state there.
    """
    count, at, size = 0, 0, len(data)
    quoted, escaped = (state & QUOTED) != 0, (state & ESCAPED) != 0
    while at < size:
        byte = data[at]
        if quoted:
            if escaped:
                escaped = False
            elif byte == _BACKSLASH:
                escaped = True
            elif byte == _QUOTE:
                quoted = False
        elif byte == _QUOTE:
            quoted = True
        elif byte == _OPEN_BRACE or byte == _OPEN_BRACKET:
            depth += 1
        elif byte == _CLOSE_BRACE or byte == _CLOSE_BRACKET:
            depth -= 1
            if depth < 0:
                return count, at, depth, 0
        elif byte == _COMMA and depth == 0:
            commas[count] = at
            count += 1
        at += 1
    return count, -1, depth, (QUOTED if quoted else 0) | (ESCAPED if escaped else 0)

"""The encoding that bytes are most likely in, told by the letters that they would make.

In the right encoding, the characters beyond ASCII are the letters of some language, the frequent
ones more often than the rare, and no capital follows a small letter. In a wrong one they are not.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

__all__ = ["FALLBACK", "guess_encoding", "wide_encoding"]

FALLBACK = "cp1252"
"""Where nothing tells: the encoding of most old files that are not UTF-8."""
SAMPLE_BYTES = 1 << 11
"""Bytes that are judged, of lines that hold others than ASCII."""
CONTEXT_BYTES = 64
"""Bytes before one that is not ASCII, at the most, that are judged with it."""
HIGH_BYTE = re.compile(rb"[\x80-\xff]")
ENOUGH = 0.5
"""Score below which the letters are no language's."""
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
WIDE_CHARACTERS = 4
"""Characters at the least that tell a wide encoding."""

SIGNS = dict.fromkeys("“”„‘’‚–—…«»€\u00a0", 0.95) | dict.fromkeys("‹›£°§·•©®™´½¼²³ºª×№", 0.4)
"""What any language may have between its letters, and what it counts for."""
FREQUENT, MIDDLE, RARE, CAPITAL = 1.0, 0.6, 0.2, 0.8
"""What letters count for, and a capital for that of its small letter."""


@dataclass(frozen=True)
class Language:
    """Letters beyond ASCII, from frequent to rare, and the encodings that they were written in."""

    encodings: tuple[str, ...]
    frequent: str
    middle: str = ""
    rare: str = ""
    others: tuple[tuple[int, int, float], ...] = ()
    """Ranges of code points that may occur too, and what each counts for."""
    latin: bool = False
    """Its letters stand among those of ASCII."""
    share: float = 1.0
    """What its score counts for."""


WESTERN = ("cp1252", "iso8859_15", "mac_roman", "cp850")
CENTRAL = ("cp1250", "iso8859_2", "cp852", "mac_latin2")
TURKISH = ("cp1254", "cp857")
BALTIC = ("cp1257", "iso8859_13")
RUSSIAN = ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")
IDEOGRAPHS = (0x4E00, 0x9FFF)


def _latin(encodings: tuple[str, ...], letters: str, share: float = 1.0) -> Language:
    return Language(encodings, letters, latin=True, share=share)


LANGUAGES = (
    _latin(WESTERN, "äöüßé"),  # German
    _latin(WESTERN, "éèêàçùâîôûëïœ"),  # French
    _latin(WESTERN, "áéíóúñü¿¡"),  # Spanish
    _latin(WESTERN, "ãçáéíóúâêôõàü"),  # Portuguese
    _latin(WESTERN, "àèéìòù"),  # Italian
    _latin(WESTERN, "äöåéæøü"),  # Scandinavian and Finnish
    _latin(WESTERN, "éëïóöü"),  # Dutch
    _latin(WESTERN, "àéèíóòúçïü·"),  # Catalan
    _latin(TURKISH, "ıişğüöçİâ"),
    _latin(CENTRAL, "ąćęłńóśźż"),  # Polish
    _latin(CENTRAL, "áčďéěíňóřšťúůýž"),  # Czech
    _latin(CENTRAL, "áäčďéíĺľňóôŕšťúýž"),  # Slovak
    _latin(CENTRAL, "áéíóöőúüű"),  # Hungarian
    _latin(CENTRAL, "ăâîşţ"),  # Romanian
    _latin(CENTRAL, "čćđšž"),  # Croatian and Slovene
    _latin(BALTIC, "ąčęėįšųūž"),  # Lithuanian
    _latin(BALTIC, "āčēģīķļņšūž"),  # Latvian
    # Several languages in one text, or names in it.
    _latin(WESTERN, "äöüßéèêàçùâîôûëïœáíóúñ¿¡ãõìòåæø·", 0.95),
    _latin(CENTRAL, "ąćęłńóśźżáčďéěíňřšťúůýžäĺľôŕöőüűăâîşţđ", 0.8),
    # Half of the letters of Icelandic are where the same bytes are those of Turkish.
    Language(("cp1252", "mac_iceland"), "áéíóúæö", "ðþý", latin=True),
    Language(RUSSIAN, "оеаинтсрвл", "кмдпуяыьгзбчй", "хжшюцщэфъё"),
    Language(("cp1251", "koi8_u", "iso8859_5"), "оаинтревсіл", "кмдпуяьгзбчйї", "хжшюцщєфґ"),
    Language(("cp1251",), "оаеитнрсвл", "кмдпугзбчйъя", "хжшюцщфьѝ"),  # Bulgarian
    Language(("cp1253", "iso8859_7", "cp737"), "αοιετσνηυρπκς", "μλίάόγέήδθώύ", "χωφβξζψϊϋΐΰ"),
    Language(("cp1255",), "יוהלאתרשמב", "נדחעקםכפ", "גצזסטןךףץ"),
    Language(("cp1256", "iso8859_6"), "اليمونرتبة", "عدسفهكقأحجشى", "صضطظغخذزثئءآإؤپچگژ،؟ًٌٍَُِّْـ"),
    Language(("cp874",), "านรกอเงมลยวสต่้", "ดหปคบทิีัุแจพขไะใ", "ูชำผโฒฐศษธณญฟซภถฉฝ็์ๆฮฯึื"),
    Language(
        ("cp932", "euc_jp"),
        "、。「」ーのにはをたがでてとしれさいるなもかられりきこくすそっまん",
        "あうえおけせちつどねほみめやよわゃゅょげござじずだづばびぶべぼぱ・（）",
        "",
        ((0x3041, 0x3096, MIDDLE), (0x30A1, 0x30FA, MIDDLE), (*IDEOGRAPHS, 0.4)),
    ),
    Language(
        ("gb18030",),
        "，。、；：？！“”（）《》的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那"
        "得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部",
        "其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由"
        "问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海"
        "通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再"
        "感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难"
        "且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运",
        "",
        ((*IDEOGRAPHS, 0.4),),
    ),
    Language(
        ("big5", "big5hkscs"),
        "，。、；：？！「」（）《》的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那"
        "得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部",
        "其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由"
        "問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海"
        "通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再"
        "感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難"
        "且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運",
        "",
        ((*IDEOGRAPHS, 0.4),),
    ),
    Language(
        ("cp949", "johab"),
        "이다는을에의가은를고하지한도로기서사어아자리라그있것들나니해인시게여보부전대일면안주정제수원문장",
        "었습했과와만으며였까요러려거구스우오위야적상생용화소국신공동모무미방발비성세실심연영유음의입조중진처출통특학합행현회후",
        "",
        ((0xAC00, 0xD7A3, 0.5),),
    ),
)
"""Of languages that tell the same from the same bytes, the one before others counts."""
SELDOM = (
    *("mac_roman", "mac_latin2", "mac_cyrillic", "mac_iceland"),
    *("cp737", "cp850", "cp852", "cp857", "johab"),
)
SELDOM_SHARE = 0.85
"""Encodings that few files are in, and what their scores count for."""


@cache
def _weights(language: Language) -> dict[str, float]:
    tiers = ((language.rare, RARE), (language.middle, MIDDLE), (language.frequent, FREQUENT))
    weights = dict(SIGNS)
    for letters, weight in tiers:
        weights |= {letter.upper(): weight * CAPITAL for letter in letters}
        weights |= dict.fromkeys(letters, weight)
    return weights


@cache
def _by_encoding() -> dict[str, list[Language]]:
    found: dict[str, list[Language]] = {}
    for language in LANGUAGES:
        for encoding in language.encodings:
            found.setdefault(encoding, []).append(language)
    return found


@cache
def _unlikely() -> re.Pattern[str]:
    """Match a capital after a small letter, of those that languages have."""
    letters = {letter for one in LANGUAGES for letter in one.frequent + one.middle + one.rare}
    small = "".join(sorted(letter for letter in letters if letter.islower()))
    capitals = "".join(sorted({letter.upper() for letter in small if len(letter.upper()) == 1}))
    return re.compile(f"(?<=[a-z{small}])[{capitals}]")


AMONG_ASCII = re.compile("(?<=[A-Za-z])[^\0-\x7f]|[^\0-\x7f](?=[A-Za-z])")
BEYOND_ASCII = re.compile("[^\0-\x7f]")
ALL_BEYOND = re.compile("(?<=[^\0-\x7f])[^\0-\x7f](?=[^\0-\x7f])")
"""Three side by side are seldom where most letters are those of ASCII."""


def guess_encoding(data: bytes) -> str:
    """Name the encoding that bytes of text are most likely in; they are not UTF-8."""
    sample = _sample(data)
    scores = {encoding: _score(sample, encoding) for encoding in _by_encoding()}
    # Of equal ones the first: a sort keeps the order.
    for encoding in sorted(scores, key=lambda encoding: -scores[encoding]):
        if scores[encoding] < ENOUGH:
            break
        if _decodes(data, encoding):
            return encoding
    return FALLBACK if _decodes(data, FALLBACK) else "latin-1"


def _sample(data: bytes) -> bytes:
    """Give some of the bytes: lines that hold others than ASCII, which alone tell.

    A line begins with a whole character, and so does what follows upon a blank, in any encoding
    that is guessed; only the last of all may be cut.
    """
    pieces: list[bytes] = []
    left, start = SAMPLE_BYTES, 0
    while left > 0 and (found := HIGH_BYTE.search(data, start)):
        place = found.start()
        before = max(start, place - CONTEXT_BYTES)
        blank = max(data.rfind(b"\n", before, place), data.rfind(b" ", before, place))
        begin = blank + 1 if blank >= 0 else place
        end = data.find(b"\n", place, place + left) + 1 or min(place + left, len(data))
        pieces.append(data[begin:end])
        left -= end - place
        start = end
    return b"".join(pieces)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _score(sample: bytes, encoding: str) -> float:
    """Say how much the characters are the letters of the language that they suit best."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(sample)
    except UnicodeDecodeError:
        return 0.0
    found = Counter(BEYOND_ASCII.findall(text))
    if not found:
        return 0.0
    unlikely = Counter(_unlikely().findall(text))
    among = Counter(AMONG_ASCII.findall(text))
    crowded = 1 - len(ALL_BEYOND.findall(text)) / (2 * found.total())
    best = 0.0
    for language in _by_encoding()[encoding]:
        weights = _weights(language)
        points = 0.0
        for letter, times in found.items():
            weight = weights.get(letter)
            if weight is None:
                weight = next((w for a, b, w in language.others if a <= ord(letter) <= b), 0.0)
            against = unlikely[letter]
            if not language.latin and letter not in SIGNS and not language.others:
                against = max(against, among[letter])
            points += weight * (times - against)
        share = language.share * (crowded if language.latin else 1)
        best = max(best, points / found.total() * share)
    return best * SELDOM_SHARE if encoding in SELDOM else best


def wide_encoding(head: bytes, *, whole: bool) -> str:
    """Name the wide encoding of text that has no byte order mark, if that is sure; else nothing.

    `whole` says that this is all of the text: else the last character may be cut.
    """
    sure = [encoding for encoding in WIDE if _is_wide(head, encoding, whole=whole)]
    return sure[0] if len(sure) == 1 else ""


def _is_wide(head: bytes, encoding: str, *, whole: bool) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=whole)
    except UnicodeDecodeError:
        return False
    words = text.split()
    letters = sum(map(len, words))
    return (
        len(text) >= WIDE_CHARACTERS
        and letters < len(text)  # arrays of numbers hold no white space
        and all(word.isprintable() for word in words)
        and 2 * sum(letter.isalpha() for word in words for letter in word) >= letters
    )

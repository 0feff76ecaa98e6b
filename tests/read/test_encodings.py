"""Text that is not UTF-8: what its bytes are, what it declares, what the user says, a guess."""

from __future__ import annotations

import csv
import gzip
import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import SettingsError, SourceError, dedup, find
from lookalike.base.errors import BinaryFileError, EncodingError, OutputError
from lookalike.read import open_corpus, streams
from lookalike.read.encoding_guess import guess_encoding
from lookalike.read.encoding_names import Encodings
from lookalike.read.encodings import decode

GUESS, STRICT = Encodings(), Encodings(strict=True)

SENTENCES = {
    "latin-1": [
        "Die Bäckerei öffnet früh, und die Straße riecht nach süßem Gebäck.",
        "Können wir das Gespräch über die Prüfung auf nächste Woche verschieben?",
        "La bibliothèque était fermée, alors nous avons étudié à la maison.",
        "Où est passé le garçon qui a trouvé la clé hier près du château ?",
        "¿Cuándo llegará el próximo autobús a la estación de la montaña?",
        "Mañana compraré plátanos, jamón y un poco de azúcar en la tienda.",
        "A criança não conseguiu dormir porque o cão latia na rua às três da manhã.",
        "Perché non è più possibile andare in città senza la macchina?",
        "Smørrebrød er på bordet, og børnene får også æbler.",
        "Hyvää päivää, tänään syödään lämmintä keittoa järven rannalla.",
        "På våren går vi ut i skogen för att höra fåglarna sjunga.",
        "naïve café",
    ],
    "cp1252": [
        "“Don’t be late,” the teacher wrote — twice.",
        "The students’ essays weren’t similar… or so they said.",
        "L’œuvre complète coûte 45 €, c’est cher.",
        "„Gestern“, sagte sie, „war alles schöner – und günstiger.“",
    ],
    "cp1251": [
        "На следующей неделе студенты сдают последний экзамен по истории.",
        "Где находится ближайшая станция метро?",
        "Осенью листья желтеют и падают на землю.",
        "Привет, мир",
        "Учні читали оповідання про їхнє місто і його мешканців.",
    ],
    "koi8-r": [
        "На следующей неделе студенты сдают последний экзамен по истории.",
        "Где находится ближайшая станция метро?",
        "Осенью листья желтеют и падают на землю.",
        "Привет, мир",
    ],
    "shift_jis": [
        "来週の試験のために、図書館で毎日勉強しています。",
        "駅までの道を教えてください。",
        "このレポートはインターネットの記事をそのまま写したものです。",
        "雨が降っている。",
    ],
    "gb18030": [
        "下个星期学生们要参加最后一次历史考试。",
        "请问最近的地铁站在哪里？",
        "秋天树叶变黄，落在地上。",
        "这篇文章和另一篇几乎一样。",
    ],
    "big5": [
        "下個星期學生們要參加最後一次歷史考試。",
        "請問最近的地鐵站在哪裡？",
        "秋天樹葉變黃，落在地上。",
        "這篇文章和另一篇幾乎一樣。",
    ],
    "euc-kr": [
        "다음 주에 학생들은 마지막 역사 시험을 봅니다.",
        "가장 가까운 지하철역이 어디에 있습니까?",
        "가을이 되면 나뭇잎이 노랗게 물들어 떨어진다.",
        "이 글은 다른 글과 거의 같다.",
    ],
    "iso-8859-2": [
        "W przyszłym tygodniu studenci zdają ostatni egzamin z historii.",
        "Gdzie znajduje się najbliższa stacja kolejowa? Proszę mi pomóc.",
        "Příští týden budou studenti skládat poslední zkoušku z dějepisu.",
        "Kde je nejbližší zastávka? Můžete mi prosím říct?",
        "Jövő héten a diákok az utolsó történelemvizsgát írják, és őszintén félnek.",
        "Študenti píšu skúšku z dejepisu už budúci týždeň.",
    ],
    "cp1254": [
        "Gelecek hafta öğrenciler son tarih sınavına girecek.",
        "En yakın istasyon nerede, söyler misiniz?",
        "Sonbaharda ağaçların yaprakları sararır ve düşer.",
        "Bu yazı öbür yazıyla neredeyse aynı.",
    ],
    "cp1253": ["Την επόμενη εβδομάδα οι φοιτητές δίνουν εξετάσεις.", "Πού είναι ο σταθμός;"],
    "cp1255": ["בשבוע הבא התלמידים ניגשים לבחינה האחרונה.", "איפה התחנה הקרובה ביותר?"],
    "cp1256": ["في الأسبوع القادم يقدم الطلاب الامتحان الأخير.", "أين أقرب محطة قطار؟"],
    "cp874": ["สัปดาห์หน้านักเรียนจะสอบวิชาประวัติศาสตร์", "สถานีที่ใกล้ที่สุดอยู่ที่ไหน"],
    "euc-jp": ["来週の試験のために、図書館で毎日勉強しています。", "駅までの道を教えてください。"],
}
"""By encoding; none of them served to choose the letters of the guess."""


SHORT = {
    "latin-1": [
        "Der Schlüssel liegt unter der Fußmatte.",
        "Grüße aus München",
        "Elle préfère le thé à la menthe.",
        "déjà vu",
        "El corazón está vacío.",
        "España y Perú",
        "Não há pão fresco.",
        "così è la vita",
        "Få röda äpplen",
        "København",
        "één appel",
        "Això és una prova",
    ],
    "cp1252": ["It’s fine – really.", "“Stop!”", "Prix : 12 €, l’unité."],
    "cp1251": ["Кошка сидит на окне.", "Да, конечно", "Это мой дом", "Доброе утро, товарищи"],
    "koi8-r": ["Кошка сидит на окне.", "Да, конечно", "Это мой дом", "Доброе утро, товарищи"],
    "shift_jis": [
        "今日はとても暑いです。",
        "ありがとうございます",
        "東京タワー",
        "カメラを買いました",
    ],
    "gb18030": ["我喜欢喝茶。", "谢谢你的帮助", "北京大学", "明天见"],
    "big5": ["我喜歡喝茶。", "謝謝你的幫助", "台灣大學", "明天見"],
    "euc-kr": ["나는 차를 좋아합니다.", "고맙습니다", "서울 대학교", "내일 만나요"],
    "iso-8859-2": [
        "Kot siedzi na oknie i śpi.",
        "Dziękuję bardzo za pomoc",
        "Kočka sedí na okně.",
        "Děkuji vám",
        "Köszönöm szépen, jó éjszakát kívánok őnöknek",
        "Łódź",
    ],
    "cp1250": ["Kot śpi na łóżku.", "Žlutý kůň", "Hvala, sve je u redu, život je lijep uz čaj"],
    "cp1254": [
        "Kedi pencerede oturuyor, dışarısı soğuk.",
        "Teşekkür ederim",
        "İyi geceler",
        "Çocuk ağladı",
    ],
    "cp1253": ["Η γάτα κάθεται.", "Ευχαριστώ πολύ"],
    "cp1255": ["תודה רבה", "החתול יושב על החלון."],
    "cp1256": ["شكرا جزيلا", "القط يجلس على النافذة."],
    "cp874": ["ขอบคุณมากครับ", "แมวนั่งอยู่ที่หน้าต่าง"],
    "euc-jp": ["今日はとても暑いです。", "ありがとうございます"],
}
"""A few words each, some of which suit several encodings."""


def right_guesses(texts: dict[str, list[str]]) -> float:
    found = [
        decode(text.encode(encoding), "x", GUESS).text == text
        for encoding, some in texts.items()
        for text in some
    ]
    return sum(found) / len(found)


def test_a_sentence_tells_its_encoding():
    assert right_guesses(SENTENCES) == 1.0


def test_a_few_words_mostly_do():
    assert right_guesses(SHORT) >= 0.95


def read(source: Path, **options: Any) -> tuple[dict[Any, str], list[tuple[str, str]]]:
    """Give texts by id, and what is said of files by their names."""
    batches = list(open_corpus(source, **options).batches())
    texts = {i.as_py(): t.as_py() for b in batches for i, t in zip(b.ids, b.texts, strict=True)}
    return texts, [(Path(n.path).name, n.note) for b in batches for n in b.file_notes]


class TestOrder:
    def test_utf8_comes_before_all_that_is_said(self):
        data = "<meta charset='latin-1'>é".encode()
        found = decode(data, "x", Encodings.of("cp1251"), markup=True)
        assert found == (data.decode(), "")

    def test_what_a_document_declares_comes_before_what_the_user_says(self):
        data = "<meta charset=koi8-r>привет".encode("koi8-r")
        found = decode(data, "x", Encodings.of("cp1251"), markup=True)
        assert found == (data.decode("koi8-r"), "")

    def test_what_the_user_says_comes_before_a_guess(self):
        data = "Größe".encode("cp1252")
        assert decode(data, "x", Encodings.of("cp1251")) == (data.decode("cp1251"), "")

    def test_a_guess_is_said(self):
        assert decode("Größe".encode("cp1252"), "x", GUESS) == (
            "Größe",
            "read as cp1252 (guessed)",
        )

    def test_a_strict_reading_guesses_nothing_and_says_what_it_looks_like(self):
        with pytest.raises(EncodingError, match=r"x is not UTF-8 text at byte 3: .*'cp1252'") as no:
            decode("Größe".encode("cp1252"), "x", STRICT)
        assert "--encoding cp1252" in no.value.for_command_line()
        assert "--strict-encoding" in no.value.for_command_line()

    def test_a_strict_reading_takes_what_is_declared_or_said(self):
        data = "# coding: latin-1\nname = 'é'".encode("latin-1")
        assert decode(data, "x", STRICT).text == data.decode("latin-1")
        said = Encodings.of("latin-1", strict=True)
        assert decode(b"caf\xe9", "x", said) == ("café", "")


class TestDeclared:
    @pytest.mark.parametrize(
        ("head", "encoding"),
        [
            ('<?xml version="1.0" encoding="ISO-8859-2"?><a>', "iso-8859-2"),
            ("<?xml version='1.0' encoding='windows-1251' ?><a>", "cp1251"),
            ("<html><meta charset='shift_jis'>", "cp932"),
            ("<!doctype html>\n<META CHARSET=Big5>", "big5hkscs"),
            ("<meta http-equiv=Content-Type content='text/html; charset=EUC-KR'>", "cp949"),
            ("<meta charset = x-sjis>", "cp932"),
            ("#!/usr/bin/python\n# -*- coding: koi8-r -*-\n", "koi8-r"),
            ("% coding: iso-8859-2\n", "iso-8859-2"),
        ],
    )
    def test_declarations_are_believed(self, head, encoding):
        letters = {"cp932": "日本語", "big5hkscs": "臺灣", "cp949": "한국"}
        text = head + letters.get(encoding, "Ж" if encoding[0] in "ck" else "ąžł")
        assert decode(text.encode(encoding), "x", STRICT) == (text, "")

    def test_names_are_read_as_browsers_do(self):
        data = "<meta charset=iso-8859-1>“quoted”".encode("cp1252")
        assert decode(data, "x", STRICT).text.endswith("“quoted”")
        data = "<meta charset=gb2312>镕".encode("gbk")  # a letter that GB 2312 lacks
        assert decode(data, "x", STRICT).text.endswith("镕")

    @pytest.mark.parametrize("charset", ["utf-8", "utf-16", "no-such", "base64", "x" * 90])
    def test_one_that_does_not_fit_is_said_and_passed_by(self, charset):
        data = f"<meta charset={charset}>Größe".encode("latin-1")
        text, note = decode(data, "x", GUESS, markup=True)
        assert text.endswith("Größe")
        named = charset if len(charset) <= 60 else f"{charset[:60]}…"
        assert note == f"declared as {named}, which it is not; read as cp1252 (guessed)"
        assert decode(data, "x", Encodings.of("latin-1"), markup=True).note.endswith(
            "read as iso-8859-1, as asked"
        )

    def test_japanese_in_seven_bits_is_not_taken_for_ascii(self):
        data = "<meta charset=iso-2022-jp>日本".encode("iso-2022-jp")
        assert decode(data, "x", STRICT, markup=True).text.endswith("日本")
        assert decode("日本".encode("iso-2022-jp"), "x", Encodings.of("iso-2022-jp")).text == "日本"

    def test_text_that_only_speaks_of_encodings_declares_none(self):
        data = "We wrote <meta charset=koi8-r> in Köln".encode("latin-1")
        assert decode(data, "x", GUESS).text.endswith("Köln")


class TestWide:
    @pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_text_without_a_mark_is_told_where_it_is_sure(self, code):
        text = "Две собаки, two dogs\n犬が二匹"
        name = code.rpartition("-")[0].upper()
        note = f"read as {name} without a byte order mark (guessed)"
        assert decode(text.encode(code), "x", GUESS) == (text, note)
        assert decode(text.encode(code), "x", Encodings.of(code)) == (text, "")
        with pytest.raises(BinaryFileError, match="x is not text: it is binary, with a NUL"):
            decode(text.encode(code), "x", STRICT)

    @pytest.mark.parametrize(
        "data",
        [
            b"\0",
            b"a\0",
            "twelve words".encode("utf-16-le") + b"a",
            bytes(range(256)) * 2,
            np.arange(100, 400, dtype=np.uint16).tobytes(),
            np.arange(100, 400, dtype=np.uint32).tobytes(),
            np.linspace(0, 1, 50).tobytes(),
            b"text with\0 a NUL in it",
            b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0",
        ],
    )
    @pytest.mark.parametrize("said", [None, "cp1252", "latin-1"])
    def test_binary_is_no_text_whatever_is_said(self, data, said):
        with pytest.raises(BinaryFileError, match="x is not text"):
            decode(data, "x", Encodings.of(said))

    def test_a_mark_that_does_not_fit_is_an_error(self):
        with pytest.raises(EncodingError, match="x is not UTF-16 text at byte 5"):
            decode(b"\xff\xfea\0\0", "x", GUESS)

    def test_utf8_with_a_mark_may_be_none(self):
        data = b"\xef\xbb\xbf" + "Über das Wetter in Köln".encode("latin-1")
        assert decode(data, "x", GUESS).text == "Über das Wetter in Köln"


class TestDamaged:
    def test_wrong_bytes_in_utf8_do_not_make_it_another(self):
        text = "Größe, Länge und Öffnung für Äpfel"
        data = text.encode() + b"\xe4 und m\xc3"
        found = decode(data, "x", GUESS)
        assert found.text == f"{text}\ufffd und m\ufffd"
        assert found.note == "read as UTF-8, 2 wrong characters replaced (guessed)"
        with pytest.raises(EncodingError, match="not UTF-8 text") as no:
            decode(data, "x", STRICT)
        assert "cp1252" not in str(no.value)

    @pytest.mark.parametrize("data", [b"\xff", b"\x81\x8d", b"abc\x90def", b"\xe9"])
    def test_what_suits_nothing_is_read_all_the_same(self, data):
        text, note = decode(data, "x", GUESS)
        assert len(text) == len(data)
        assert note.endswith("(guessed)")

    @pytest.mark.parametrize("data", [b"\xff\x01", b"\x89PNG\r\n\x1a\n", b"caf\xe9" + b"\x02" * 3])
    def test_controls_make_it_binary(self, data):
        with pytest.raises(BinaryFileError, match="holds control characters"):
            decode(data, "x", GUESS)

    def test_a_stray_control_does_not(self):
        data = ("Die Größe der Öffnung. " * 20).encode("latin-1") + b"\x1a"
        assert decode(data, "x", GUESS).text == data.decode("latin-1")

    @given(st.binary(max_size=60), st.sampled_from([GUESS, STRICT, Encodings.of("cp1251")]))
    def test_any_bytes_are_text_or_refused(self, data, encodings):
        try:
            text, _ = decode(data, "x", encodings)
        except (BinaryFileError, EncodingError):
            return
        text.encode()

    @pytest.mark.parametrize(
        "data",
        [
            "äöü ".encode("latin-1") * (1 << 20),
            b"x" * (1 << 22) + "Größe".encode("latin-1"),
            b"x\n" * (1 << 21) + "Größe".encode("latin-1"),
        ],
    )
    def test_a_large_file_is_judged_by_a_part(self, data):
        begin = time.process_time()
        assert guess_encoding(data) == "cp1252"
        assert time.process_time() - begin < 2


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            *("nosuch", "base64", "rot13", "zlib", "hex", "uu", "punycode", "idna"),
            *("unicode_escape", "undefined", "", "a\0b", "é", "x" * 100_000, "latin-1; drop"),
        ],
    )
    def test_one_that_is_no_encoding_of_text_is_refused(self, name):
        with pytest.raises(
            SettingsError, match=r"is no encoding of text that is known: .*cp1252"
        ) as no:
            Encodings.of(name)
        assert len(no.value.for_command_line()) < 250
        assert "--encoding" in no.value.for_command_line()

    @pytest.mark.parametrize("given", [7, b"utf-8", ["utf-8"]])
    def test_one_that_is_no_name_is_refused(self, given):
        with pytest.raises(SettingsError, match="is no encoding"):
            Encodings.of(given)

    @pytest.mark.parametrize(
        ("name", "known"),
        [
            ("Latin-1", "iso8859-1"),
            (" cp1252 ", "cp1252"),
            ("windows-1252", "cp1252"),
            ("UTF8", "utf-8"),
            ("utf-8-sig", "utf-8"),
            ("utf-16", "utf-16-le"),
            ("windows-874", "cp874"),
            ("x-sjis", "cp932"),
        ],
    )
    def test_names_are_those_that_people_give(self, name, known):
        assert Encodings.of(name).encoding == known

    def test_it_is_refused_before_anything_is_read(self, tmp_path):
        with pytest.raises(SettingsError, match="encoding= 'nosuch' is no encoding"):
            find(tmp_path / "missing", encoding="nosuch")


ESSAYS = {
    "a.txt": "Die Größe der Öffnung ändert sich über die Jahre häufig.".encode("latin-1"),
    "b.txt": "Осенью листья желтеют и падают на холодную землю.".encode("cp1251"),
    "c.txt": b"Plain English words, as most essays have.",
    "d.rst": "La bibliothèque était fermée à midi.".encode("cp1252"),
    "e.html": "<p>秋になると葉が黄色くなります。</p>".encode("cp932"),
    "f.bin": b"\x80\0\1\2",
}


@pytest.fixture
def essays(tmp_path):
    folder = tmp_path / "essays"
    folder.mkdir()
    for name, data in ESSAYS.items():
        (folder / name).write_bytes(data)
    return folder


class TestFolders:
    def test_no_file_in_another_encoding_stops_a_folder_or_is_dropped(self, essays):
        texts, notes = read(essays)
        assert texts == {
            "a.txt": ESSAYS["a.txt"].decode("latin-1"),
            "b.txt": ESSAYS["b.txt"].decode("cp1251"),
            "c.txt": ESSAYS["c.txt"].decode(),
            "d.rst": ESSAYS["d.rst"].decode("cp1252"),
            "e.html": "秋になると葉が黄色くなります。",
        }
        assert dict(notes) == {
            "a.txt": "read as cp1252 (guessed)",
            "b.txt": "read as cp1251 (guessed)",
            "d.rst": "read as cp1252 (guessed)",
            "e.html": "read as cp932 (guessed)",
        }

    def test_a_file_that_was_named_is_guessed_too(self, essays):
        for name in ("a.txt", "d.rst"):
            texts, notes = read(essays / name)
            assert len(texts) == 1
            assert notes == [(name, "read as cp1252 (guessed)")]

    def test_a_strict_reading_stops(self, essays):
        with pytest.raises(EncodingError, match=r"a\.txt is not UTF-8 text at byte 7"):
            read(essays, strict_encoding=True)
        (essays / "a.txt").unlink()
        (essays / "b.txt").unlink()
        (essays / "e.html").unlink()
        corpus = open_corpus(essays, strict_encoding=True)
        assert corpus.skipped == {"in an unknown encoding": 1, "binary": 1}
        with pytest.raises(
            SourceError, match=r"d\.rst is text in an unknown encoding: .*encoding="
        ):
            read(essays / "d.rst", strict_encoding=True)

    def test_what_is_said_is_for_files_that_are_not_utf8(self, essays):
        (essays / "b.txt").unlink()
        (essays / "e.html").unlink()
        texts, notes = read(essays, encoding="latin-1", strict_encoding=True)
        assert texts["d.rst"] == ESSAYS["d.rst"].decode("latin-1")
        assert not notes

    def test_one_that_is_not_in_what_is_said_is_guessed(self, tmp_path):
        (tmp_path / "a.txt").write_bytes("Größe und Länge der Öffnung".encode("latin-1"))
        texts, notes = read(tmp_path, encoding="euc-jp")
        assert texts == {"a.txt": "Größe und Länge der Öffnung"}
        assert notes == [("a.txt", "not euc-jp; read as cp1252 (guessed)")]

    def test_a_few_are_named_and_many_counted(self, tmp_path):
        said: list[str] = []
        for number in range(3):
            (tmp_path / f"{number}.txt").write_bytes(f"Größe {number}".encode("latin-1"))
        result = find(tmp_path, say=said.append)
        assert sum("read as cp1252 (guessed)" in line for line in said) == 3
        for number in range(3, 12):
            (tmp_path / f"{number}.txt").write_bytes(f"Größe {number}".encode("latin-1"))
        said.clear()
        result = find(tmp_path, out=tmp_path.parent / "found", say=said.append)
        (line,) = (line for line in said if "guessed" in line)
        assert line.startswith("12 files are not UTF-8: 12 read as cp1252 (guessed) (")
        named = [note for note in result.summary.notes if "guessed" in note]
        assert len(named) == 12
        record = json.loads((tmp_path.parent / "found" / "run.json").read_text())
        assert record["notes"] == list(result.summary.notes)

    def test_originals_and_copies_are_what_was_read(self, essays, tmp_path):
        twin = "Die Größe der Öffnung ändert sich über die Jahre sehr häufig."
        (essays / "z.txt").write_text(twin, "utf-8")
        result = dedup(essays, threshold=0.5, out=tmp_path / "clean")
        assert result.removed["id"].to_pylist() == ["z.txt"]
        for name, data in ESSAYS.items():
            assert (tmp_path / "clean" / "kept" / name).read_bytes() == data
        corpus = open_corpus(essays)
        found = corpus.originals(np.array([0], np.int32), np.array([1]))
        assert found.texts.to_pylist() == [ESSAYS["a.txt"].decode("latin-1")]

    def test_a_job_goes_on_only_with_the_same_encoding(self, essays, tmp_path):
        work = tmp_path / "work"
        find(essays, work=work)
        with pytest.raises(OutputError, match="encoding="):
            find(essays, work=work, encoding="cp1251")
        said: list[str] = []
        find(essays, work=work, threshold=0.5, say=said.append)
        assert any("files are not UTF-8: 2 read as cp1252 (guessed)" in line for line in said)


RECORDS = [
    {"id": str(number), "text": f"Größe {number},\nLänge “{number}” €"} for number in range(40)
]
JAPANESE = [
    {"id": str(number), "text": f'表示 {number}, ソース"能"\n予定 {"申" * (number % 7)}'}
    for number in range(40)
]
"""With letters whose second byte is a backslash, a brace or the like."""


def table(kind: str, records: list[dict[str, str]], encoding: str) -> bytes:
    if kind == "jsonl":
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
        return lines.encode(encoding)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["id", "text"], delimiter="," if kind == "csv" else "\t")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode(encoding)


KINDS = ["jsonl", "csv", "tsv"]
CODES = [
    ("cp1252", RECORDS),
    ("cp932", JAPANESE),
    ("gb18030", JAPANESE),
    ("big5hkscs", [{"id": str(n), "text": f"功許蓋 {n}, 餐廳\n閱 {n}"} for n in range(40)]),
    ("euc-jp", JAPANESE),
    ("utf-16-le", RECORDS),
    ("utf-16-be", JAPANESE),
]


class TestTables:
    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize(("code", "records"), CODES, ids=[code for code, _ in CODES])
    @pytest.mark.parametrize("kind", KINDS)
    def test_they_are_read_in_what_is_said(self, tmp_path, kind, code, records, packed):
        data = table(kind, records, code)
        path = tmp_path / (f"a.{kind}.gz" if packed else f"a.{kind}")
        path.write_bytes(gzip.compress(data) if packed else data)
        corpus = open_corpus(path, encoding=code)
        for size in (64, 8 << 20):  # blocks of a record or two, and one of all
            batches = list(corpus.batches(batch_bytes=size))
            texts = [text for batch in batches for text in batch.texts.to_pylist()]
            assert texts == [one["text"] for one in records]
        found = corpus.originals(np.array([0, 0], np.int32), np.array([33, 5]))
        assert found.texts.to_pylist() == [records[32]["text"], records[4]["text"]]
        later = list(corpus.batches(batches[0].next))
        assert [len(batch) for batch in later] == []

    @pytest.mark.parametrize(("code", "records"), CODES, ids=[code for code, _ in CODES])
    @pytest.mark.parametrize("kind", KINDS)
    def test_copies_have_the_same_bytes(self, tmp_path, kind, code, records):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(table(kind, records, code))
        corpus = open_corpus(path, encoding=code)
        corpus.copy(0, np.array([2, 3, 40]), tmp_path / "kept")
        kept = [records[number - 1] for number in (2, 3, 40)]
        assert (tmp_path / "kept").read_bytes() == table(kind, kept, code)

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_that_is_utf8_stays_so(self, tmp_path, kind):
        (tmp_path / f"a.{kind}").write_bytes(table(kind, RECORDS, "utf-8"))
        texts, _ = read(tmp_path, encoding="latin-1")
        assert list(texts.values()) == [one["text"] for one in RECORDS]

    def test_a_character_between_two_pieces_is_no_sign_against_utf8(self, tmp_path, monkeypatch):
        (tmp_path / "a.jsonl").write_bytes(table("jsonl", JAPANESE, "utf-8"))
        for size in (1, 2, 3, 5):
            monkeypatch.setattr(streams, "PIECE_BYTES", size)
            texts, _ = read(tmp_path, encoding="cp932")
            assert list(texts.values()) == [one["text"] for one in JAPANESE]

    @pytest.mark.parametrize("kind", KINDS)
    def test_none_is_read_by_a_guess(self, tmp_path, kind):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(table(kind, RECORDS, "cp1252"))
        with pytest.raises(EncodingError, match=rf"a\.{kind}:1 is not UTF-8 text at byte") as no:
            read(path)
        assert "give --encoding cp1252 if that is its encoding" in no.value.for_command_line()
        texts, _ = read(path, encoding="cp1252")
        assert list(texts.values()) == [one["text"] for one in RECORDS]

    def test_a_damaged_one_is_not_said_to_be_in_another(self, tmp_path):
        data = table("jsonl", RECORDS, "utf-8").replace(b"\xc3\xb6\xc3\x9fe 30", b"\xc3 30")
        (tmp_path / "a.jsonl").write_bytes(data)
        with pytest.raises(EncodingError, match=r"a\.jsonl:31 is not UTF-8") as no:
            read(tmp_path)
        assert "cp1252" not in str(no.value)

    @pytest.mark.parametrize("kind", KINDS)
    def test_bad_records_are_passed_over_in_any_encoding(self, tmp_path, kind):
        path = tmp_path / f"a.{kind}"
        data = table(kind, JAPANESE, "cp932").replace("表示 30,".encode("cp932"), b"\x81\xff ,")
        path.write_bytes(data)
        corpus = open_corpus(path, encoding="cp932", skip_bad=True)
        (batch,) = corpus.batches()
        assert len(batch) == 39
        (bad,) = batch.bad
        assert f"a.{kind}:31 is not cp932 text at byte" in bad
        with pytest.raises(EncodingError, match=r"name another encoding="):
            read(path, encoding="cp932")

    @pytest.mark.parametrize("code", ["iso-2022-jp", "utf-7", "hz", "cp037", "utf-32"])
    def test_encodings_in_which_records_do_not_end_as_in_ascii_are_refused(self, tmp_path, code):
        (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}')
        with pytest.raises(SourceError, match=r"a\.jsonl is a table, which cannot be read in"):
            read(tmp_path, encoding=code)

    def test_a_quote_that_is_not_closed_is_named_by_its_line(self, tmp_path):
        text = "text\r\n" + "é\r\n" * 20 + '"ö\r\n'
        (tmp_path / "a.csv").write_bytes(text.encode("utf-16-le"))
        with pytest.raises(SourceError, match=r"a\.csv:21 opens a quote in line 22 that is never"):
            read(tmp_path, encoding="utf-16-le")

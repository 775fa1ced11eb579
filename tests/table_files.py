"""Tables written in the formats that people have, without a library where a few lines do."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_DAY_ZERO = datetime.date(1899, 12, 30)

Rows = list[list[Any]]


def csv_text(rows: Rows, delimiter: str = ",", decimal: str = ".") -> str:
    """Rows as text; dates as year-month-day, flags as true and false."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows([[_spelt(cell, decimal) for cell in row] for row in rows])
    return out.getvalue()


def _spelt(cell: Any, decimal: str) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return repr(cell).replace(".", decimal)
    return "" if cell is None else str(cell)


def write_csv(
    path: Path, rows: Rows, *, encoding: str = "utf-8", title: str = "", **how: str
) -> Path:
    """A text file, packed where its name says so."""
    content = (title + csv_text(rows, **how)).encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_xlsx(path: Path, sheets: dict[str, Rows]) -> Path:
    """A workbook of Excel."""
    with zipfile.ZipFile(path, "w") as book:
        numbered = list(enumerate(sheets, start=1))
        book.writestr("[Content_Types].xml", _CONTENT_TYPES)
        book.writestr("_rels/.rels", _relations([("rId1", "officeDocument", "xl/workbook.xml")]))
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"/>' for k, name in numbered
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        parts = [(f"rId{k}", "worksheet", f"worksheets/sheet{k}.xml") for k, _ in numbered]
        book.writestr(
            "xl/_rels/workbook.xml.rels", _relations([*parts, ("rIdS", "styles", "styles.xml")])
        )
        book.writestr("xl/styles.xml", _STYLES)
        for k, name in numbered:
            book.writestr(f"xl/worksheets/sheet{k}.xml", _xlsx_sheet(sheets[name]))
    return path


_CONTENT_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/>'
    '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def _relations(parts: list[tuple[str, str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for key, kind, target in parts
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'


def _xlsx_sheet(rows: Rows) -> str:
    lines = "".join(
        f'<row r="{r}">'
        + "".join(_xlsx_cell(f"{chr(65 + c)}{r}", cell) for c, cell in enumerate(row))
        + "</row>"
        for r, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'


def _xlsx_cell(place: str, cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
        case int() | float():
            return f'<c r="{place}"><v>{cell!r}</v></c>'
        case datetime.date():
            return f'<c r="{place}" s="1"><v>{(cell - _DAY_ZERO).days}</v></c>'
    text = f'<t xml:space="preserve">{escape(cell)}</t>'
    return f'<c r="{place}" t="inlineStr"><is>{text}</is></c>'


def write_ods(path: Path, sheets: dict[str, Rows]) -> Path:
    """A workbook of LibreOffice."""
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>"
        + "".join(
            f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    spaces = " ".join(f'xmlns:{each}="{_ODF}:{each}:1.0"' for each in ("office", "table", "text"))
    content = (
        f'<office:document-content {spaces} office:version="1.2"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", kind)
        book.writestr("content.xml", content)
        book.writestr("META-INF/manifest.xml", manifest)
    return path


def _ods_cell(cell: Any) -> str:
    match cell:
        case None:
            return "<table:table-cell/>"
        case bool():
            kind = f'office:value-type="boolean" office:boolean-value="{str(cell).lower()}"'
        case int() | float():
            kind = f'office:value-type="float" office:value="{cell!r}"'
        case datetime.date():
            kind = f'office:value-type="date" office:date-value="{cell.isoformat()}"'
        case _:
            kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{escape(str(cell))}</text:p></table:table-cell>"

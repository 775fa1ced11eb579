"""Who may ask: this machine, this browser, these pages."""

import pytest
from starlette.testclient import TestClient

from gdppca.web.app import make_app
from gdppca.web.guard import HEADERS, Keys

HOST = "127.0.0.1:8000"


@pytest.fixture
def client(bench):
    return TestClient(make_app(bench, (HOST,)), base_url=f"http://{HOST}", follow_redirects=False)


@pytest.fixture
def known(client, bench):
    client.get("/start", params={"token": bench.keys.token})
    return client


def test_the_start_token_becomes_a_cookie_and_leaves_the_address(client, bench):
    answer = client.get("/start", params={"token": bench.keys.token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert bench.keys.token not in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "0" * 64, "guess"])
def test_a_guessed_token_opens_nothing(client, token):
    assert client.get("/start", params={"token": token}).status_code == 403
    assert client.get("/").status_code == 403


@pytest.mark.parametrize("path", ["/", "/history", "/practice", "/static/workbench.css"])
def test_without_the_cookie_nothing_is_told(client, bench, path):
    answer = client.get(path)
    assert answer.status_code == 403
    assert str(bench.folder.root) not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:9000", "127.0.0.1", "evil.example:8000", "[::1]:8000"]
)
def test_another_host_is_refused(known, bench, host):
    assert known.get("/", headers={"host": host}).status_code == 403
    start = known.get("/start", params={"token": bench.keys.token}, headers={"host": host})
    assert start.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {},
        {"origin": f"https://{HOST}"},
        {"origin": f"http://{HOST}", "sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_from_another_page_is_refused(known, bench, headers):
    typed = {"csrf": bench.keys.form, "file": "visits.csv", "action": "next"}
    assert known.post("/", data=typed, headers=headers).status_code == 403
    assert not bench.drafts


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_a_form_without_its_token_is_refused(known, bench, csrf):
    typed = {"csrf": csrf, "file": "visits.csv", "action": "next"}
    answer = known.post("/", data=typed, headers={"origin": f"http://{HOST}"})
    assert answer.status_code == 400
    assert not bench.drafts


@pytest.mark.parametrize("path", ["/", "/static/workbench.js", "/nowhere", "/start"])
def test_every_answer_has_strict_headers(known, path):
    answer = known.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")


def test_pages_have_no_scripts_or_styles_of_their_own(known):
    page = known.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert "onclick" not in page
    assert page.count("<script") == 1


def test_keys_do_not_tell_each_other():
    keys = Keys()
    assert len({keys.token, keys.cookie, keys.form}) == 3
    assert len(keys.token) == 64
    assert Keys().token != keys.token
    assert Keys("a").cookie != Keys("b").cookie


def test_a_form_that_is_far_too_large_is_refused(known, bench):
    typed = {"csrf": bench.keys.form, "file": "x" * 5_000_000}
    answer = known.post("/", data=typed, headers={"origin": f"http://{HOST}"})
    assert answer.status_code == 400

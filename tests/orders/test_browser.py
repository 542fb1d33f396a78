"""The pages as people meet them: in a real browser, with and without JavaScript, by mouse and by keyboard."""

import re
from typing import Any

import pytest
from baton_dev.testing.browser import OpenPage
from baton_messaging.testing import pretend_processed
from playwright.sync_api import Page, expect

from inventory.models import StockItem
from orders import services
from orders.models import Order, OrderStatus
from orders.placer import token_of
from tests.orders.factories import an_order
from tests.orders.test_views import settle

pytestmark = pytest.mark.django_db(transaction=True)


def opened_by_mail(live_server: Any, order: Order) -> str:
    return f"{live_server.url}{order.get_absolute_url()}?token={token_of(order.pk)}"


def fill(page: Page) -> None:
    page.get_by_label("Blue mug", exact=True).fill("2")
    page.get_by_label("Your name").fill("Ann Example")
    page.get_by_label("Your e-mail").fill("ann@example.com")


def test_an_order_is_placed_and_its_page_follows_it_until_all_is_done(
    committed_catalogue: None,
    live_server: Any,
    open_page: OpenPage,
) -> None:
    page = open_page(live_server.url)
    fill(page)
    page.get_by_role("button", name="Place the order").click()
    expect(page).to_have_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))
    expect(page.locator("#progress")).to_contain_text("0 of 5 steps done")
    order = Order.objects.get()
    pretend_processed(order.pk)
    expect(page.locator("#progress")).to_contain_text("3 of 5 steps done")
    settle(order)
    expect(page.locator("#progress")).to_contain_text("Everything is in stock")
    expect(page.get_by_role("link", name="Cancel the order")).to_have_count(0)
    expect(page.locator("[hx-get]")).to_have_count(0)
    assert page.locator("#summary").inner_text().startswith("confirmed:")


def test_a_double_click_is_one_order(committed_catalogue: None, live_server: Any, open_page: OpenPage) -> None:
    page = open_page(live_server.url)
    fill(page)
    page.get_by_role("button", name="Place the order").dblclick()
    expect(page).to_have_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))
    assert Order.objects.count() == 1


def test_all_works_without_javascript(committed_catalogue: None, live_server: Any, open_page: OpenPage) -> None:
    page = open_page(live_server.url, java_script_enabled=False)
    fill(page)
    page.get_by_role("button", name="Place the order").click()
    expect(page.locator("#progress")).to_contain_text("0 of 5 steps done")
    order = Order.objects.get()
    pretend_processed(order.pk)
    expect(page.locator("#progress")).to_contain_text("3 of 5 steps done")  # the page refreshes itself
    page.get_by_role("link", name="Cancel the order").click()
    page.get_by_role("button", name="Yes, cancel the order").click()
    expect(page.locator("#progress")).to_contain_text("You cancelled this order")
    assert Order.objects.get(pk=order.pk).status == OrderStatus.CANCELLED


def test_a_cancel_that_comes_too_late_says_so(committed_catalogue: None, live_server: Any, open_page: OpenPage) -> None:
    order = an_order()
    page = open_page(opened_by_mail(live_server, order), java_script_enabled=False)
    page.get_by_role("link", name="Cancel the order").click()
    services.confirm_order(order.pk)
    page.get_by_role("button", name="Yes, cancel the order").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be cancelled any more")


def test_the_total_runs_along_and_pieces_are_counted_by_keyboard(
    committed_catalogue: None, live_server: Any, open_page: OpenPage
) -> None:
    StockItem.objects.create(sku="MUG", on_hand=2)
    page = open_page(live_server.url)
    total = page.locator("#total")
    expect(total).to_have_text("–")
    page.get_by_label("Fountain pen", exact=True).fill("2")
    expect(total).to_have_text("90.00 EUR")
    more, less = (page.get_by_role("button", name=f"One {way}: Blue mug") for way in ("more", "less"))
    more.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect(page.get_by_label("Blue mug", exact=True)).to_have_value("2")
    expect(total).to_have_text("109.00 EUR")
    expect(more).to_be_disabled()  # there are two
    less.press("Enter")
    less.press("Enter")
    expect(page.get_by_label("Blue mug", exact=True)).to_have_value("")
    expect(less).to_be_disabled()


def test_what_was_typed_stays_by_its_error(committed_catalogue: None, live_server: Any, open_page: OpenPage) -> None:
    page = open_page(live_server.url)
    fill(page)
    page.get_by_label("Blue mug", exact=True).fill("-1")
    page.evaluate("document.querySelector('.stacked-form').noValidate = true")
    with page.expect_response(lambda response: response.url.endswith("/orders/") and response.status == 422):
        page.get_by_role("button", name="Place the order").click()
    field = page.get_by_label("Blue mug", exact=True)
    expect(field).to_have_value("-1")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Your name")).to_have_value("Ann Example")


def test_the_language_is_switched_by_a_click_and_kept(
    committed_catalogue: None,
    live_server: Any,
    open_page: OpenPage,
) -> None:
    order = an_order()
    page = open_page(opened_by_mail(live_server, order))
    page.get_by_role("button", name="日本語").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page).to_have_url(opened_by_mail(live_server, order))
    page.goto(live_server.url)
    expect(page.get_by_role("button", name="注文する")).to_be_visible()


def test_the_form_can_be_sent_by_keyboard_alone(
    committed_catalogue: None,
    live_server: Any,
    open_page: OpenPage,
) -> None:
    page = open_page(live_server.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("[name=quantity-MUG], [name=quantity-DEAR]")).to_have_count(2)
    page.get_by_label("Blue mug", exact=True).focus()
    page.keyboard.press("1")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.get_by_label("Your name").fill("Ann")
    page.get_by_label("Your e-mail").fill("ann@example.com")
    page.keyboard.press("Enter")
    expect(page.locator("#progress")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_page_is_wider_than_the_screen(
    committed_catalogue: None, live_server: Any, open_page: OpenPage, language: str
) -> None:
    order = an_order(MUG=10_000, PEN=1)
    page = open_page(live_server.url, locale=language)
    for path in ("/", order.get_absolute_url(), "/nowhere/"):
        page.goto(live_server.url + path)
        for width in (320, 390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overflow <= 0, (path, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(
    committed_catalogue: None,
    live_server: Any,
    open_page: OpenPage,
    scheme: Any,
) -> None:
    """WCAG AA asks for a contrast of 4.5."""
    order = an_order()
    page = open_page(opened_by_mail(live_server, order), color_scheme=scheme)
    for selector in (".status", ".lead", ".step .state", ".bar span", "nav a", "footer", ".quiet"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    page.goto(live_server.url)
    for selector in (".sku", ".help", "button.primary", "legend", ".recent time"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


CONTRAST = """element => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = parts(colour).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let ground = element;
  while ((parts(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
  const [a, b] = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(light);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""

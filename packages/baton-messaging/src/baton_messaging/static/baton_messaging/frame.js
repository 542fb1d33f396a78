// What the frame of django-unfold's admin lacks for keyboards and screen readers: a main landmark, buttons that are ones,
// and names for regions that scroll. Loaded by our pages, and by a project for all of its admin (UNFOLD["SCRIPTS"]).
(() => {
  const isJapanese = () => document.documentElement.lang.startsWith("ja");
  const words = (english, japanese) => (isJapanese() ? japanese : english);

  function becomeButton(element) {
    if (element.hasAttribute("role") || element.closest("a, button, label")) return;
    const handler = element.getAttribute("x-on:click") ?? "";
    element.setAttribute("role", "button");
    element.tabIndex = 0;
    if (element.classList.contains("material-symbols-outlined")) {
      const isMenu = handler.includes("sidebar");
      element.setAttribute("aria-label", isMenu ? words("Menu", "メニュー") : element.textContent.trim());
    }
    element.addEventListener("keydown", event => {
      if (event.target !== element || !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      element.click();
      if (handler.includes("sidebarMobileOpen")) requestAnimationFrame(focusMenu);
    });
  }

  // The menu of a phone has its own button; whichever of the two is there now takes the focus on.
  function focusMenu() {
    const buttons = [...document.querySelectorAll("[role=button][x-on\\:click*=sidebarMobileOpen]")];
    const inMenu = buttons.find(button => button.closest("#nav-sidebar, nav, aside") && button.offsetParent);
    (inMenu ?? buttons.find(button => button.offsetParent))?.focus();
  }

  function mend() {
    const main = document.getElementById("main") ?? document.getElementById("page");
    if (main && !document.querySelector("main, [role=main]")) main.setAttribute("role", "main");
    document.querySelectorAll("span[x-on\\:click], div[x-on\\:click].cursor-pointer").forEach(becomeButton);
    document.querySelectorAll(".simplebar-content-wrapper[role=region]").forEach((region, place) => {
      const name = region.closest("#nav-sidebar, nav, aside") ? words("Menu", "メニュー") : words("Table", "表");
      region.setAttribute("aria-label", place ? `${name} ${place + 1}` : name);
    });
  }

  document.addEventListener("DOMContentLoaded", mend);
  window.addEventListener("load", () => requestAnimationFrame(mend)); // what other scripts have made meanwhile
})();

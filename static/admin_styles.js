// Alpine, in Unfold's admin, binds styles by setAttribute("style", …), which the Content-Security-Policy takes for inline
// styles and refuses. The same by the CSSOM is allowed (config/web/content_security.py).
const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style" && this.style) this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

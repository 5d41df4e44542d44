// Before the first paint, and not in the page itself: its policy allows no inline script.
(() => {
  let chosen;
  try {
    chosen = localStorage.getItem('toolhub.theme');
  } catch {
    // Storage is switched off: the system's choice holds.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();

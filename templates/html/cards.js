(() => {
  let all = null;
  const unpack = async () => {
    const text = atob(document.getElementById("ad-packed").textContent.trim());
    const bytes = Uint8Array.from(text, letter => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };
  const fill = async group => {
    const place = group.querySelector("div");
    if (place.firstChild) return;
    try {
      all = all || unpack();
      place.innerHTML = (await all)[group.dataset.ad];
    } catch (error) {
      place.textContent = `This browser cannot unpack the cards (${error}); the result files have them.`;
    }
  };
  const list = document.querySelector(".ad-list");
  const show = () => list.querySelector("template")?.replaceWith(list.querySelector("template").content);
  const lead = async () => {
    const id = location.hash.slice(1);
    if (/^ad-c-/.test(id)) {
      show();
      list.open = true;
    }
    const group = /^ad-c-/.test(id) && document.querySelector(`[data-cards~="${id}"]`);
    if (!group) return;
    group.open = true;
    await fill(group);
    const card = document.getElementById(id);
    if (card) card.scrollIntoView();
  };
  document.addEventListener("toggle", event => {
    if (event.target === list) show();
    if (event.target.matches("[data-ad][open]")) fill(event.target);
  }, true);
  addEventListener("hashchange", lead);
  lead();
})();

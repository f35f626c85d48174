(() => {
  if (window.adBlocks) return;
  const blocks = window.adBlocks = {};
  const unpack = async name => {
    const text = atob(document.getElementById(name).textContent.trim());
    const bytes = Uint8Array.from(text, letter => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };
  const fill = async packed => {
    const place = packed.querySelector("div");
    const block = packed.dataset.block;
    if (place.firstChild) return;
    try {
      blocks[block] = blocks[block] || unpack(block);
      place.innerHTML = (await blocks[block])[packed.dataset.ad];
    } catch (error) {
      place.textContent = `This browser cannot unpack this part (${error}); the result files have it.`;
    }
  };
  const show = list => list.querySelector("template")?.replaceWith(list.querySelector("template").content);
  const lead = async () => {
    const id = location.hash.slice(1);
    const list = document.querySelector(".ad-list");
    if (!list || !/^ad-c-/.test(id)) return;
    show(list);
    list.open = true;
    const group = document.querySelector(`[data-cards~="${id}"]`);
    if (!group) return;
    group.open = true;
    await fill(group);
    document.getElementById(id)?.scrollIntoView();
  };
  document.addEventListener("toggle", event => {
    if (event.target.matches(".ad-list")) show(event.target);
    if (event.target.matches("[data-ad][open]")) fill(event.target);
  }, true);
  addEventListener("hashchange", lead);
  addEventListener("DOMContentLoaded", lead);
})();

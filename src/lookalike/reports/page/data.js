// The page's own data: compressed parts, each unpacked when it is first asked for.

async function unpack(id) {
  const holder = document.getElementById(id);
  const packed = atob(holder.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const unpacked = new Map();

// The text of a document, with what is marked in it; null where the page has none.
function textOf(documentNumber) {
  const place = report.documents.text[documentNumber];
  if (place === null || place === undefined) return Promise.resolve(null);
  if (!unpacked.has(place)) unpacked.set(place, unpack(`text-${place}`).then((text) => ({ ...text, text: reflowed(text.text) })));
  return unpacked.get(place);
}

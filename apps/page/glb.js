// Reads the GLB files that Treacle writes: one primitive, floats, all in one buffer.
"use strict";

function readGlb(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== 0x46546c67 || view.getUint32(8, true) !== buffer.byteLength) {
    throw new Error("not a whole GLB file");
  }
  const jsonBytes = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 20, jsonBytes)));
  if (!json.meshes) {
    return { count: 0, attributes: { POSITION: new Float32Array(0) }, indices: null };
  }
  const body = 20 + jsonBytes + 8;
  const read = (number) => {
    const accessor = json.accessors[number];
    const from = body + json.bufferViews[accessor.bufferView].byteOffset;
    const length = accessor.count * (accessor.type === "VEC3" ? 3 : 1);
    const Kind = accessor.componentType === 5125 ? Uint32Array : Float32Array;
    return new Kind(buffer, from, length);
  };
  const primitive = json.meshes[0].primitives[0];
  const attributes = {};
  for (const name of Object.keys(primitive.attributes)) {
    attributes[name] = read(primitive.attributes[name]);
  }
  return {
    count: attributes.POSITION.length / 3,
    attributes,
    indices: primitive.indices === undefined ? null : read(primitive.indices),
  };
}

// What is drawn: the liquid as a surface, as particles or as a slice, and the solids around it.
"use strict";

const RAMP = `
vec3 ramp(float t) {
  t = clamp(t, 0.0, 1.0);
  return clamp(vec3(1.5 * t - 0.1, 0.2 + 1.4 * t * (1.3 - t), 0.9 - 1.1 * t + 0.5 * t * t), 0.0, 1.0);
}
vec3 shade(vec3 colour, vec3 n, vec3 toEye) {
  vec3 light = normalize(vec3(0.4, 1.0, 0.6));
  float diffuse = 0.35 + 0.65 * max(dot(n, light), 0.0);
  float shine = pow(max(dot(n, normalize(light + toEye)), 0.0), 40.0);
  return pow(colour * diffuse, vec3(1.0 / 2.2)) + 0.35 * shine;
}`;

const FRAGMENT_VALUES = `
uniform vec2 range;
uniform float isPlain;
varying vec3 vColour;
varying float vValue;
vec3 ownColour() {
  return mix(ramp((vValue - range.x) / max(range.y - range.x, 1e-20)), vColour, isPlain);
}`;

const VERTEX_VALUES = `
attribute float value;
attribute vec3 tint;
varying vec3 vColour;
varying float vValue;`;

function material(extra) {
  return new THREE.ShaderMaterial(Object.assign({
    uniforms: {
      range: { value: new THREE.Vector2(0, 1) }, isPlain: { value: 1 }, radius: { value: 0.01 },
      height: { value: 800 },
    },
    side: THREE.DoubleSide,
  }, extra));
}

const surfaceMaterial = () => material({
  vertexShader: VERTEX_VALUES + `
varying vec3 vNormal;
varying vec3 vToEye;
void main() {
  vColour = tint; vValue = value;
  vec4 world = modelMatrix * vec4(position, 1.0);
  vNormal = normal; vToEye = cameraPosition - world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`,
  fragmentShader: RAMP + FRAGMENT_VALUES + `
varying vec3 vNormal;
varying vec3 vToEye;
void main() {
  vec3 eye = normalize(vToEye), n = normalize(vNormal);
  gl_FragColor = vec4(shade(ownColour(), dot(n, eye) < 0.0 ? -n : n, eye), 1.0);
}`,
});

const particleMaterial = () => material({
  vertexShader: VERTEX_VALUES + `
uniform float radius;
uniform float height;
void main() {
  vColour = tint; vValue = value;
  vec4 seen = viewMatrix * modelMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * seen;
  gl_PointSize = max(1.5, height * radius * projectionMatrix[1][1] / -seen.z);
}`,
  fragmentShader: RAMP + FRAGMENT_VALUES + `
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float d = dot(p, p);
  if (d > 1.0) discard;
  vec3 n = vec3(p.x, -p.y, sqrt(1.0 - d));
  gl_FragColor = vec4(shade(ownColour(), n, vec3(0.0, 0.0, 1.0)), 1.0);
}`,
});

function valuesOf(glb, colour) {
  const a = glb.attributes;
  if (colour === "temperature") return a._TEMPERATURE || new Float32Array(glb.count);
  if (colour === "viscosity") {
    return (a._VISCOSITY || new Float32Array(glb.count)).map((x) => Math.log10(Math.max(x, 1e-9)));
  }
  const out = new Float32Array(glb.count);
  for (let i = 0; i < glb.count && a._VELOCITY; ++i) {
    out[i] = Math.hypot(a._VELOCITY[3 * i], a._VELOCITY[3 * i + 1], a._VELOCITY[3 * i + 2]);
  }
  return out;
}

function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const x of values) {
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  return low <= high ? [low, high] : [0, 1];
}

function liquidObject(glb, values, isMesh) {
  const geometry = new THREE.BufferGeometry();
  const set = (name, data, size) => geometry.setAttribute(name, new THREE.BufferAttribute(data, size));
  set("position", glb.attributes.POSITION, 3);
  if (isMesh) set("normal", glb.attributes.NORMAL || new Float32Array(3 * glb.count), 3);
  set("value", values, 1);
  set("tint", glb.attributes.COLOR_0 || new Float32Array(3 * glb.count).fill(0.6), 3);
  if (glb.indices) geometry.setIndex(new THREE.BufferAttribute(glb.indices, 1));
  const object = isMesh ? new THREE.Mesh(geometry, surfaceMaterial())
    : new THREE.Points(geometry, particleMaterial());
  object.frustumCulled = false;
  return object;
}

// The cells that a plane goes through, each with the mean of the particles in it.
function sliceGlb(glb, values, domain, axis, at) {
  const { origin, cell } = domain;
  const layer = Math.floor(at * domain.cells[axis] * 0.9999);
  const [u, v] = [0, 1, 2].filter((a) => a !== axis);
  const cells = new Map();
  const P = glb.attributes.POSITION, C = glb.attributes.COLOR_0;
  for (let i = 0; i < glb.count; ++i) {
    if (Math.floor((P[3 * i + axis] - origin[axis]) / cell) !== layer) continue;
    const key = Math.floor((P[3 * i + u] - origin[u]) / cell) + ":" + Math.floor((P[3 * i + v] - origin[v]) / cell);
    const sum = cells.get(key) || { n: 0, value: 0, tint: [0, 0, 0] };
    sum.n += 1;
    sum.value += values[i];
    for (let k = 0; k < 3; ++k) sum.tint[k] += C ? C[3 * i + k] : 0.6;
    cells.set(key, sum);
  }
  const n = cells.size, out = { count: 4 * n, attributes: {}, indices: new Uint32Array(6 * n) };
  const position = new Float32Array(12 * n), normal = new Float32Array(12 * n);
  const tint = new Float32Array(12 * n), means = new Float32Array(4 * n);
  let k = 0;
  for (const [key, sum] of cells) {
    const [iu, iv] = key.split(":").map(Number);
    for (let c = 0; c < 4; ++c) {
      const row = 4 * k + c;
      position[3 * row + axis] = origin[axis] + (layer + 0.5) * cell;
      position[3 * row + u] = origin[u] + (iu + (c & 1)) * cell;
      position[3 * row + v] = origin[v] + (iv + (c >> 1)) * cell;
      normal[3 * row + axis] = 1;
      means[row] = sum.value / sum.n;
      for (let t = 0; t < 3; ++t) tint[3 * row + t] = sum.tint[t] / sum.n;
    }
    out.indices.set([0, 1, 2, 2, 1, 3].map((c) => 4 * k + c), 6 * k);
    ++k;
  }
  out.attributes = { POSITION: position, NORMAL: normal, COLOR_0: tint };
  return { glb: out, values: means };
}

// Solids ------------------------------------------------------------------------------------------

// A body's triangles are where it was in some frame, and its state of that frame says where that is.
function bodyObject(prop, state) {
  const outer = new THREE.Group(), inner = propObject(prop);
  const back = new THREE.Quaternion(-state[4], -state[5], -state[6], state[3]);
  inner.quaternion.copy(back);
  inner.position.set(-state[0], -state[1], -state[2]).applyQuaternion(back);
  outer.add(inner);
  return outer;
}

// What the server has made triangles of. Containers are glass, emitters are faint.
function propObject(prop) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(prop.position, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(prop.normal, 3));
  geometry.setIndex(prop.triangles);
  const looks = {
    solid: { color: 0x8899aa, roughness: 0.6 },
    body: { color: 0xc8553d, roughness: 0.6 },
    container: { color: 0x99bbcc, transparent: true, opacity: 0.16, depthWrite: false },
    emitter: { color: 0xcc8833, transparent: true, opacity: 0.25, depthWrite: false },
  };
  const material = new THREE.MeshStandardMaterial(Object.assign({ side: THREE.DoubleSide }, looks[prop.role]));
  const object = new THREE.Group();
  object.add(new THREE.Mesh(geometry, material));
  if (prop.role === "container") {
    object.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 30),
      new THREE.LineBasicMaterial({ color: 0x667788 })));
  }
  return object;
}

function domainBox(domain) {
  const size = domain.cells.map((n) => n * domain.cell);
  const box = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxBufferGeometry(...size)),
    new THREE.LineBasicMaterial({ color: 0x667788 }));
  box.position.set(...domain.origin.map((o, k) => o + size[k] / 2));
  return box;
}

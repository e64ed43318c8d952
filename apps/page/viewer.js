// The page: loads the run, shows a frame, plays, and in a live page hands on what hands do.
"use strict";

const $ = (id) => document.getElementById(id);
const UNITS = { speed: "m/s", temperature: "K", viscosity: "Pa s" };

// Where data comes from: a server, or files beside the page, which a browser reads as scripts only.
const source = {
  waiting: {},
  script(name) {
    return new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      this.waiting[name] = resolve;
      tag.src = `data/${name}.js`;
      tag.onerror = () => reject(new Error(`there is no data/${name}.js`));
      tag.onload = () => tag.remove();
      document.head.appendChild(tag);
    });
  },
  isStatic: location.protocol === "file:" || document.documentElement.dataset.static === "on",
  async json(name) {
    if (this.isStatic) return this.script(name);
    const answer = await fetch(`${name}.json`);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  },
  async frame(number, what) {
    if (this.isStatic) {
      const { glb, note } = await this.script(`${what}_${number}`);
      return { glb: Uint8Array.from(atob(glb), (c) => c.charCodeAt(0)).buffer, note };
    }
    const path = page.run.live ? `live/${what}.glb` : `frame/${number}/${what}.glb`;
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(await answer.text());
    return { glb: await answer.arrayBuffer(), note: JSON.parse(answer.headers.get("X-Treacle")) };
  },
};

// Files of a static page call this.
function treacleData(name, value) {
  source.waiting[name](value);
  delete source.waiting[name];
}

const page = {
  run: null, frame: 1, shown: null, shape: "surface", colour: "plain", isPlaying: false,
  data: null, values: null, range: [0, 1], liquid: null, bodies: [], props: null, stats: null,
  // Each change of what is to be seen has a number. These are the last that was asked for, the last
  // whose data is in the scene, and the last that the picture shows (0: there is no picture).
  asked: 0, placed: 0, drawn: 0, isStale: false,
};
window.treacle = page; // for tests, and for the curious

const renderer = new THREE.WebGLRenderer({ canvas: $("view"), antialias: true, preserveDrawingBuffer: true });
const scene = new THREE.Scene();
const camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
const orbit = new Orbit(camera, $("view"));
scene.background = new THREE.Color(0x1b1d22);
scene.add(new THREE.HemisphereLight(0xffffff, 0x445566, 1.1));
const lamp = new THREE.DirectionalLight(0xffffff, 0.6);
lamp.position.set(0.4, 1, 0.6);
scene.add(lamp);
renderer.domElement.addEventListener("webglcontextlost", () => { page.drawn = 0; });
renderer.domElement.addEventListener("webglcontextrestored", change); // after the renderer's own listener
orbit.onChange = change;

function tell(text) {
  $("told").textContent = text;
}

// To be called when something was changed that needs no data but what is there.
function change() {
  page.asked += 1;
  page.isStale = true;
  if (!loading) page.placed = page.asked;
}

function resize() {
  const width = innerWidth, height = innerHeight;
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  renderer.setSize(width, height, false);
  page.drawn = 0; // a canvas of another size begins empty
  camera.aspect = width / height;
  orbit.update();
}

function draw() {
  if (page.liquid) {
    const u = page.liquid.material.uniforms;
    u.range.value.set(page.range[0], page.range[1]);
    u.isPlain.value = page.colour === "plain" ? 1 : 0;
    u.height.value = renderer.domElement.height;
    const radius = page.data && page.data.attributes._PSCALE;
    u.radius.value = radius && radius.length ? radius[0] : page.run.domain.cell / 3;
  }
  renderer.render(scene, camera);
  if (renderer.getContext().isContextLost()) return; // drawn when it is restored
  page.drawn = page.placed;
  page.isStale = false;
}

function rebuild() {
  if (!page.data) return;
  if (page.liquid) {
    scene.remove(page.liquid);
    page.liquid.geometry.dispose();
    page.liquid.material.dispose();
  }
  let glb = page.data, values = valuesOf(glb, page.colour);
  page.range = rangeOf(values);
  if (page.shape === "slice") {
    ({ glb, values } = sliceGlb(glb, values, page.run.domain, Number($("axis").value), $("at").value / 1000));
  }
  page.values = values;
  page.liquid = liquidObject(glb, values, page.shape !== "particles");
  page.points = glb.count;
  scene.add(page.liquid);
  legend();
}

function number(x) {
  return page.colour === "viscosity" ? (10 ** x).toPrecision(3) : x.toPrecision(3);
}

function legend() {
  $("legend").hidden = page.colour === "plain";
  $("low").textContent = number(page.range[0]);
  $("high").textContent = `${number(page.range[1])} ${UNITS[page.colour] || ""}`;
  const pen = $("ramp").getContext("2d");
  for (let i = 0; i < 96; ++i) {
    const t = i / 95;
    const c = [1.5 * t - 0.1, 0.2 + 1.4 * t * (1.3 - t), 0.9 - 1.1 * t + 0.5 * t * t];
    pen.fillStyle = `rgb(${c.map((x) => Math.round(255 * Math.min(1, Math.max(0, x)) ** 0.4545))})`;
    pen.fillRect(i, 0, 1, 10);
  }
}

function placeBodies(note) {
  for (const [k, state] of (note.bodies || []).entries()) {
    if (page.bodies[k]) {
      page.bodies[k].position.set(state[0], state[1], state[2]);
      page.bodies[k].quaternion.set(state[4], state[5], state[6], state[3]);
    }
  }
  page.note = note;
}

// Solids, containers and emitters; asked for again only if they move.
async function placeProps(frame) {
  if (page.props && !page.run.moves) return;
  const props = await source.json(`solids_${frame}`);
  for (const object of page.props || []) {
    scene.remove(object);
    object.traverse((part) => part.geometry && part.geometry.dispose());
  }
  page.props = props.filter((p) => p.role !== "body" && p.triangles.length > 0).map(propObject);
  for (const object of page.props) scene.add(object);
  for (const prop of props.filter((p) => p.role === "body" && !page.bodies[p.index])) {
    if (!prop.state || prop.triangles.length === 0) continue;
    page.bodies[prop.index] = bodyObject(prop, prop.state);
    page.bodies[prop.index].userData.body = prop.index;
    scene.add(page.bodies[prop.index]);
  }
}

let loading = false, wanted = null;
async function show(frame) {
  wanted = frame;
  page.asked += 1;
  if (loading) return;
  loading = true;
  while (wanted !== null) {
    const now = wanted, what = page.shape === "surface" ? "surface" : "particles";
    wanted = null;
    try {
      const { glb, note } = await source.frame(now, what);
      page.data = readGlb(glb);
      page.frame = now;
      page.shown = `${now}:${what}`;
      rebuild();
      await placeProps(now);
      placeBodies(note);
      $("frame").value = now;
      $("number").textContent = page.run.live ? `${note.time.toFixed(2)} s`
        : `${now} / ${page.run.frames}  ${note.time.toFixed(2)} s`;
      page.isStale = true;
      if (wanted === null) page.placed = page.asked;
    } catch (problem) {
      tell(problem.message);
    }
  }
  loading = false;
}

// Playing -----------------------------------------------------------------------------------------

function setPlaying(on) {
  page.isPlaying = on;
  $("play").textContent = on ? "\u23F8" : "\u25B6";
}

let last = 0;
function tick(now) {
  if (page.isPlaying && !loading && now - last > 1000 / page.run.fps) {
    last = now;
    show(page.frame >= page.run.frames ? 1 : page.frame + 1);
  }
  requestAnimationFrame(tick);
  if (page.isStale) draw();
}

function step(by) {
  show(Math.max(1, Math.min(page.run.frames, page.frame + by)));
}

// A run that is still going: new frames appear on the slider.
async function poll() {
  try {
    const run = await source.json("run");
    page.run.frames = run.frames;
    $("frame").max = run.frames;
    tell(run.frames < run.wanted ? `${run.frames} of ${run.wanted} frames so far` : "");
    if (run.frames < run.wanted) setTimeout(poll, 1000);
    page.stats = await source.json("stats");
    plot();
  } catch (problem) {
    tell(problem.message);
  }
}

function plot() {
  const pen = $("plot").getContext("2d"), name = $("column").value;
  const xs = page.stats.time || [], ys = page.stats[name] || [];
  if ($("column").options.length === 0) {
    for (const key of Object.keys(page.stats)) {
      if (key !== "time") $("column").add(new Option(key));
    }
    $("column").value = "kinetic energy";
    return plot();
  }
  const [x0, x1] = rangeOf(xs), [y0, y1] = rangeOf(ys);
  pen.clearRect(0, 0, 320, 140);
  pen.fillStyle = pen.strokeStyle = "#ddd";
  pen.font = "11px system-ui";
  pen.fillText(`${name}: ${y0.toPrecision(4)} to ${y1.toPrecision(4)}`, 8, 14);
  pen.beginPath();
  xs.forEach((x, i) => {
    const px = 8 + 304 * (x - x0) / (x1 - x0 || 1), py = 132 - 108 * (ys[i] - y0) / (y1 - y0 || 1);
    if (i === 0) pen.moveTo(px, py);
    else pen.lineTo(px, py);
  });
  pen.stroke();
}

// Controls ----------------------------------------------------------------------------------------

function listen() {
  $("play").onclick = () => setPlaying(!page.isPlaying);
  $("frame").oninput = (e) => { setPlaying(false); show(Number(e.target.value)); };
  $("shape").onchange = (e) => {
    page.shape = e.target.value;
    for (const label of document.querySelectorAll("label.slice")) label.hidden = page.shape !== "slice";
    show(page.frame);
  };
  $("colour").onchange = (e) => { page.colour = e.target.value; rebuild(); change(); };
  $("axis").onchange = $("at").oninput = () => { rebuild(); change(); };
  $("column").onchange = plot;
  addEventListener("resize", resize);
  addEventListener("keydown", (e) => {
    if (["INPUT", "SELECT"].includes(e.target.tagName)) return;
    const keys = {
      " ": () => (page.run.live ? $("pause").click() : setPlaying(!page.isPlaying)),
      ",": () => step(-1), ".": () => (page.run.live ? act({ step: 1 }) : step(1)), Home: () => show(1), End: () => show(page.run.frames),
      ArrowLeft: () => orbit.turn(-0.1, 0), ArrowRight: () => orbit.turn(0.1, 0),
      ArrowUp: () => orbit.turn(0, 0.1), ArrowDown: () => orbit.turn(0, -0.1),
      "+": () => orbit.zoom(0.9), "-": () => orbit.zoom(1.1), p: () => $("pour").click(),
    };
    if (keys[e.key]) {
      e.preventDefault();
      keys[e.key]();
    }
  });
}

// Live --------------------------------------------------------------------------------------------

function act(action) {
  return fetch("act", { method: "POST", body: JSON.stringify(action) }).catch((e) => tell(e.message));
}

// Where the pointer is on the plane through a point that faces the camera.
function pointerPlace(e, through) {
  const ray = pointerRay(e);
  const normal = camera.getWorldDirection(new THREE.Vector3());
  const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through);
  return ray.ray.intersectPlane(plane, new THREE.Vector3());
}

function pointerRay(e) {
  const ray = new THREE.Raycaster();
  ray.setFromCamera(new THREE.Vector2(2 * e.clientX / innerWidth - 1, 1 - 2 * e.clientY / innerHeight), camera);
  return ray;
}

function bodyUnder(e) {
  const hit = pointerRay(e).intersectObjects(page.bodies.filter(Boolean), true)[0];
  if (!hit) return null;
  let object = hit.object;
  while (object.userData.body === undefined) object = object.parent;
  return object.userData.body;
}

const hand = { body: null, through: null, isPouring: false };

function moveHand(e) {
  const place = pointerPlace(e, hand.through);
  if (!place) return;
  if (hand.body !== null) act({ grab: hand.body, to: place.toArray() });
  if (hand.isPouring) act({ pour: place.toArray() });
}

function listenLive() {
  const view = $("view");
  orbit.isHeld = () => hand.body !== null || hand.isPouring;
  view.addEventListener("pointerdown", (e) => {
    hand.body = bodyUnder(e);
    hand.isPouring = hand.body === null && $("pour").checked;
    hand.through = hand.body !== null ? page.bodies[hand.body].position.clone() : orbit.target;
    if (orbit.isHeld()) {
      view.setPointerCapture(e.pointerId);
      moveHand(e);
    }
  }, true);
  view.addEventListener("pointermove", (e) => { if (orbit.isHeld()) moveHand(e); });
  view.addEventListener("pointerup", () => {
    if (orbit.isHeld()) act({ release: true });
    hand.body = null;
    hand.isPouring = false;
  });
  $("viscosity").onchange = (e) => {
    const factor = 10 ** Number(e.target.value);
    $("times").textContent = `x ${factor.toPrecision(2)}`;
    act({ viscosity: factor });
  };
  $("warmer").onclick = () => act({ heat: 10 });
  $("colder").onclick = () => act({ heat: -10 });
  $("pause").onclick = () => act({ pause: true });
  $("again").onclick = () => act({ restart: true });
}

async function follow() {
  const begun = performance.now();
  await show(page.frame);
  if (page.note) tell(`${(page.note.rate || 0).toFixed(1)} steps a second${page.note.told ? ": " + page.note.told : ""}`);
  setTimeout(follow, Math.max(0, 33 - (performance.now() - begun)));
}

async function begin() {
  page.run = await source.json("run");
  $("name").textContent = page.run.name;
  $("frame").max = page.run.frames;
  const { origin, cells, cell } = page.run.domain;
  scene.add(domainBox(page.run.domain));
  $("colour").options[2].disabled = !page.run.temperature;
  resize();
  orbit.frame(origin, origin.map((o, k) => o + cells[k] * cell));
  listen();
  if (page.run.live) {
    page.shape = $("shape").value = "particles";
    $("time").querySelector("input").hidden = $("play").hidden = true;
    for (const part of document.querySelectorAll(".run")) part.hidden = true;
    document.querySelector(".live").hidden = false;
    listenLive();
    follow();
  } else {
    await show(1);
    poll();
  }
  requestAnimationFrame(tick);
  page.isReady = true;
}

begin().catch((problem) => tell(problem.message));

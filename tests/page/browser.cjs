// Drives the page in headless Chromium: node browser.cjs PLAYWRIGHT CHROMIUM view|static|play URL SHOT.png
// Prints one JSON object of what it saw; exit code 1 on any error of the page.
//
// Nothing here waits for time. Each change of the page has a number, and the page says which number
// its picture shows: see "asked" and "drawn" in viewer.js.
"use strict";

const [playwright, chromium, mode, url, shot] = process.argv.slice(2);
const { chromium: browserType } = require(playwright);

const PATIENCE_MS = 200000; // so long after the beginning a page that hangs is given up
const begun = Date.now();

// Waits until the test of the page says something true, and returns that.
async function until(page, test, argument) {
  while (Date.now() - begun < PATIENCE_MS) { // the page's policy forbids waitForFunction's eval
    const found = await page.evaluate(test, argument);
    if (found) return found;
    await page.waitForTimeout(20);
  }
  const state = await page.evaluate(() => JSON.stringify([treacle.asked, treacle.placed, treacle.drawn, treacle.shown]));
  throw new Error(`it was never so: ${test}; asked, placed, drawn, shown: ${state}`);
}

// Mean colour of the picture that shows a change, and how much of it is not background.
function look(page, number) {
  return until(page, (n) => {
    if (treacle.drawn < n) return null;
    const gl = renderer.getContext(), w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
    const data = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data);
    if (gl.isContextLost()) return null;
    const sum = [0, 0, 0];
    let drawn = 0;
    for (let i = 0; i < w * h; ++i) {
      const c = [data[4 * i], data[4 * i + 1], data[4 * i + 2]];
      if (Math.abs(c[0] - 0x1b) + Math.abs(c[1] - 0x1d) + Math.abs(c[2] - 0x22) > 60) {
        drawn += 1;
        for (let k = 0; k < 3; ++k) sum[k] += c[k];
      }
    }
    return { share: drawn / (w * h), mean: sum.map((x) => x / Math.max(drawn, 1)) };
  }, number);
}

// Changes a control; the number of the change.
function set(page, id, value, event) {
  return page.evaluate(([i, v, e]) => {
    const element = document.getElementById(i), before = treacle.asked;
    element.value = v;
    element.dispatchEvent(new Event(e, { bubbles: true }));
    if (treacle.asked <= before) throw new Error(`${i} changed nothing`);
    return treacle.asked;
  }, [id, value, event]);
}

// The browser may take the picture away, as when a graphics card is busy; the page draws it again.
async function loseContext(page) {
  await page.evaluate(() => {
    window.loser = renderer.getContext().getExtension("WEBGL_lose_context");
    loser.loseContext();
  });
  await until(page, () => treacle.drawn === 0);
  const number = await page.evaluate(() => {
    loser.restoreContext();
    return treacle.asked + 1;
  });
  return look(page, number);
}

async function useViewer(page, seen) {
  await until(page, () => window.treacle && treacle.isReady && treacle.shown === "1:surface");
  seen.first = await look(page, await page.evaluate(() => treacle.asked));
  await look(page, await set(page, "frame", "3", "input"));
  seen.scrubbed = await page.evaluate(() => [treacle.frame, treacle.shown]);
  seen.speed = await look(page, await set(page, "colour", "speed", "change"));
  seen.range = await page.evaluate(() => treacle.range);
  seen.restored = await loseContext(page);
  for (const shape of ["particles", "slice", "surface"]) {
    seen[shape] = await look(page, await set(page, "shape", shape, "change"));
    Object.assign(seen[shape], await page.evaluate(() => ({ points: treacle.points, shown: treacle.shown })));
  }
  await page.focus("#view");
  await page.keyboard.press(" ");
  await until(page, () => treacle.isPlaying && treacle.frame !== 3);
  await page.keyboard.press(" ");
  await until(page, () => !treacle.isPlaying);
  const yaw = await page.evaluate(() => orbit.yaw);
  await page.mouse.move(300, 170);
  await page.mouse.down();
  await page.mouse.move(360, 170, { steps: 4 });
  await page.mouse.up();
  seen.turned = await until(page, (y) => Math.abs(orbit.yaw - y) > 0.1 && orbit.yaw - y, yaw);
  await look(page, await page.evaluate(() => treacle.asked));
  await until(page, () => document.getElementById("column").options.length > 3);
}

// A held simulation: what is under the pointer stays there.
async function pause(page, isPaused) {
  await page.evaluate((wanted) => { if (treacle.note.paused !== wanted) $("pause").click(); }, isPaused);
  await until(page, (wanted) => treacle.note.paused === wanted && treacle.drawn === treacle.placed, isPaused);
}

async function usePlay(page, seen) {
  await until(page, () => window.treacle && treacle.isReady && treacle.bodies.length > 0 && treacle.points > 0);
  seen.first = await look(page, await page.evaluate(() => treacle.asked));
  await pause(page, true);
  const before = await page.evaluate(() => treacle.bodies[0].position.toArray());
  const [x, y] = await page.evaluate(() => {
    const p = treacle.bodies[0].position.clone().project(camera);
    return [(p.x + 1) / 2 * innerWidth, (1 - p.y) / 2 * innerHeight];
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await until(page, () => hand.body === 0);
  await pause(page, false);
  await page.mouse.move(x + 80, y - 50, { steps: 20 });
  seen.moved = await until(page, (from) => {
    const far = treacle.bodies[0].position.distanceTo(new THREE.Vector3(...from));
    return far > 0.03 && far;
  }, before);
  await page.mouse.up();
  await until(page, () => hand.body === null);

  await pause(page, true);
  const points = await page.evaluate(() => treacle.points);
  await page.keyboard.press("p");
  await until(page, () => $("pour").checked);
  const [px, py] = await page.evaluate(() => [[300, 130], [240, 130], [360, 130], [300, 160]]
    .find(([clientX, clientY]) => bodyUnder({ clientX, clientY }) === null));
  await page.mouse.move(px, py);
  await page.mouse.down();
  await until(page, () => hand.isPouring);
  await pause(page, false);
  seen.poured = await until(page, (n) => treacle.points > n + 20 && treacle.points - n, points);
  await page.mouse.up();
}

async function main() {
  const browser = await browserType.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader", "--no-proxy-server",
      "--disable-gpu-watchdog"],
    timeout: PATIENCE_MS,
  });
  const page = await browser.newPage({ viewport: { width: 600, height: 400 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error" && !m.text().includes("favicon")) errors.push(m.text()); });
  const seen = {};
  try {
    await page.goto(url);
    await (mode === "play" ? usePlay : useViewer)(page, seen);
    await page.screenshot({ path: shot });
  } catch (problem) {
    errors.push(String(problem));
    await page.screenshot({ path: shot, timeout: 10000 }).catch(() => {});
  }
  await browser.close();
  console.log(JSON.stringify(Object.assign(seen, { errors: errors.filter((e) => !e.includes("404")) })));
  process.exit(seen.errors.length > 0 ? 1 : 0);
}

main();

// Drives the page in headless Chromium: node browser.cjs PLAYWRIGHT CHROMIUM view|static|play URL SHOT.png
// Prints one JSON object of what it saw; exit code 1 on any error of the page.
"use strict";

const [playwright, chromium, mode, url, shot] = process.argv.slice(2);
const { chromium: browserType } = require(playwright);

async function shown(page, test, argument) {
  for (let k = 0; k < 600; ++k) { // the page's policy forbids waitForFunction's eval
    if (await page.evaluate(test, argument)) return;
    await page.waitForTimeout(100);
  }
  throw new Error(`in a minute it was never so: ${test}`);
}

// Mean colour of what is drawn, and how much of the picture is not background. A change of the page
// shows in the next picture that it draws: the second one from now was begun after the change.
async function look(page) {
  const before = await page.evaluate(() => treacle.drawn);
  await shown(page, (n) => treacle.drawn >= n + 2, before);
  return page.evaluate(() => {
    const view = document.getElementById("view"), gl = view.getContext("webgl2") || view.getContext("webgl");
    const w = view.width, h = view.height, data = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data);
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
  });
}

async function set(page, id, value, event) {
  await page.evaluate(([i, v, e]) => {
    const element = document.getElementById(i);
    element.value = v;
    element.dispatchEvent(new Event(e, { bubbles: true }));
  }, [id, value, event]);
}

async function useViewer(page, seen) {
  await shown(page, () => window.treacle && treacle.isReady && treacle.shown === "1:surface");
  seen.first = await look(page);
  await set(page, "frame", "3", "input");
  await shown(page, () => treacle.shown === "3:surface");
  seen.scrubbed = await page.evaluate(() => treacle.frame);
  await set(page, "colour", "speed", "change");
  seen.speed = await look(page);
  seen.range = await page.evaluate(() => treacle.range);
  for (const shape of ["particles", "slice"]) {
    await set(page, "shape", shape, "change");
    await shown(page, () => treacle.shown === "3:particles");
    seen[shape] = Object.assign(await look(page), { points: await page.evaluate(() => treacle.points) });
  }
  await set(page, "shape", "surface", "change");
  await shown(page, () => treacle.shown === "3:surface");
  const before = await page.evaluate(() => treacle.frame);
  await page.focus("#view");
  await page.keyboard.press(" ");
  await shown(page, (f) => treacle.isPlaying && treacle.frame !== f, before);
  await page.keyboard.press(" ");
  const yaw = await page.evaluate(() => orbit.yaw);
  await page.mouse.move(400, 250);
  await page.mouse.down();
  await page.mouse.move(460, 250, { steps: 4 });
  await page.mouse.up();
  seen.turned = (await page.evaluate(() => orbit.yaw)) - yaw;
  seen.plots = await page.evaluate(() => document.getElementById("column").options.length);
}

async function usePlay(page, seen) {
  await shown(page, () => window.treacle && treacle.isReady && treacle.bodies.length > 0 && treacle.points > 0);
  seen.first = await look(page);
  const place = () => page.evaluate(() => treacle.bodies[0].position.toArray());
  const [x, y] = await page.evaluate(() => {
    const p = treacle.bodies[0].position.clone().project(camera);
    return [(p.x + 1) / 2 * innerWidth, (1 - p.y) / 2 * innerHeight];
  });
  seen.before = await place();
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let k = 1; k <= 20; ++k) {
    await page.mouse.move(x + 6 * k, y - 4 * k);
    await page.waitForTimeout(60);
  }
  seen.after = await place();
  await page.mouse.up();
  const points = await page.evaluate(() => treacle.points);
  await page.keyboard.press("p");
  await page.mouse.move(450, 200);
  await page.mouse.down();
  await shown(page, (n) => treacle.points > n + 20, points);
  await page.mouse.up();
  seen.poured = (await page.evaluate(() => treacle.points)) - points;
}

async function main() {
  const browser = await browserType.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader", "--no-proxy-server"],
  });
  const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
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
    await page.screenshot({ path: shot }).catch(() => {});
  }
  await browser.close();
  console.log(JSON.stringify(Object.assign(seen, { errors: errors.filter((e) => !e.includes("404")) })));
  process.exit(seen.errors.length > 0 ? 1 : 0);
}

main();

// Opens reports in headless Chromium and uses them as a reader would: `node check.mjs FOLDER`.
//
// FOLDER holds reports (*.html) and gets a screenshot of each, at 1x and 2x, on paper and on a narrow screen. Any error on a page, any request to a network and anything
// that does not answer ends the run with 1.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const folder = resolve(process.argv[2]);
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
// From opening a page to its last drawing, and from an action to its effect.
const [LOAD_MS, ANSWER_MS] = [6000, 1500];

function must(holds, what) {
  if (!holds) throw new Error(what);
}

async function open(scale, options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'isinglass-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: FLAGS,
    viewport: { width: 1280, height: 900 },
    deviceScaleFactor: scale,
    ...options,
  });
  return { context, async close() { await context.close(); rmSync(profile, { recursive: true, force: true }); } };
}

async function load(context, file) {
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith('file:')) problems.push(`request to ${request.url()}`); });
  const began = Date.now();
  await page.goto(pathToFileURL(join(folder, file)).href);
  await page.waitForFunction(() => window.isinglass !== undefined);
  return { page, problems, milliseconds: Date.now() - began };
}

const position = (page, unit) => page.evaluate((k) => {
  const { canvas, placeOf } = window.isinglass.network;
  const box = canvas.getBoundingClientRect();
  const [x, y] = placeOf(k);
  return [box.left + x, box.top + y];
}, unit);

// A unit that no other covers.
const alone = (page) => page.evaluate(() => {
  const { placeOf, canvas } = window.isinglass.network;
  const places = [];
  for (let k = 0; ; k++) {
    try { places.push(placeOf(k)); } catch { break; }
  }
  const inside = ([x, y]) => x > 40 && y > 40 && x < canvas.clientWidth - 40 && y < canvas.clientHeight - 40;
  const apart = (k) => Math.min(...places.map((at, other) => (other === k ? Infinity : Math.hypot(at[0] - places[k][0], at[1] - places[k][1]))));
  const candidates = places.map((_, k) => k).filter((k) => inside(places[k]));
  return candidates.reduce((best, k) => (apart(k) > apart(best) ? k : best), candidates[0]);
});

async function use(page) {
  const canvas = page.locator('#network canvas');
  await canvas.scrollIntoViewIfNeeded();
  const slider = page.locator('#threshold');
  const shown = async () => Number(await canvas.getAttribute('data-edges'));

  const before = await shown();
  const label = await page.locator('#network output').textContent();
  await slider.focus();
  let began = Date.now();
  await page.keyboard.press('Home');
  must(await shown() === 0, 'the slider at its left end shows no couplings');
  for (let k = 0; k < 5; k++) await page.keyboard.press('ArrowRight');
  must(await shown() === 5, `five steps of the slider show five couplings, not ${await shown()}`);
  await page.keyboard.press('End');
  const all = await shown();
  must(all >= before && all > 5, `the slider at its right end shows ${all} couplings`);
  const moved = await page.locator('#network output').textContent();
  must(moved.includes('of') && moved !== label || all === before, `the number beside the slider stays at '${label}'`);
  const sliding = Date.now() - began;

  // Back to fewer, so that hovering is what is measured next.
  await page.keyboard.press('Home');
  for (let k = 0; k < 30; k++) await page.keyboard.press('ArrowRight');
  const unit = await alone(page);
  let [x, y] = await position(page, unit);
  began = Date.now();
  await page.mouse.move(x, y);
  await page.waitForFunction(() => !document.getElementById('tip').hidden, null, { timeout: ANSWER_MS });
  const hovering = Date.now() - began;
  const tip = await page.locator('#tip').innerText();
  must(tip.includes('bias'), `the tooltip of a unit says '${tip}'`);

  await page.mouse.down();
  await page.mouse.move(x + 30, y + 24, { steps: 4 });
  await page.mouse.up();
  const [newX, newY] = await position(page, unit);
  must(Math.hypot(newX - x - 30, newY - y - 24) < 2, `a unit dragged by (30, 24) moved by (${newX - x}, ${newY - y})`);

  [x, y] = await position(page, unit);
  await page.locator('#network button[aria-label="zoom in"]').click();
  const zoomed = await position(page, unit);
  const box = await canvas.boundingBox();
  const [middleX, middleY] = [box.x + box.width / 2, box.y + box.height / 2];
  must(Math.abs(zoomed[0] - middleX - 1.4 * (x - middleX)) < 3 && Math.abs(zoomed[1] - middleY - 1.4 * (y - middleY)) < 3, 'zooming in does not zoom around the middle');
  await page.locator('#network button', { hasText: 'reset view' }).click();

  const map = page.locator('#couplings canvas');
  if (await map.count()) {
    await map.scrollIntoViewIfNeeded();
    const place = await map.boundingBox();
    await page.mouse.move(place.x + 0.3 * place.width, place.y + 10);
    await page.waitForFunction(() => document.getElementById('tip').innerText.match(/coupling|bias/), null, { timeout: ANSWER_MS });
    await page.locator('#couplings button', { hasText: 'as in the model' }).click();
    await page.locator('#couplings button', { hasText: 'by similarity' }).click();
  }
  await page.mouse.move(2, 2);
  return { sliding, hovering };
}

let failed = false;
for (const file of readdirSync(folder).filter((name) => name.endsWith('.html')).sort()) {
  const stem = join(folder, file.replace(/\.html$/, ''));
  try {
    const once = await open(1);
    const { page, problems, milliseconds } = await load(once.context, file);
    must(milliseconds < LOAD_MS, `loading took ${milliseconds} ms`);
    await page.screenshot({ path: `${stem}-1x.png`, fullPage: true });
    const took = await use(page);
    must(took.sliding < 5 * ANSWER_MS, `sliding took ${took.sliding} ms`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: `${stem}-dark.png`, fullPage: true });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.pdf({ path: `${stem}.pdf`, format: 'A4', printBackground: true, margin: { top: '12mm', bottom: '12mm', left: '12mm', right: '12mm' } });
    must(problems.length === 0, problems.join('\n'));
    await once.close();

    const twice = await open(2);
    const sharp = await load(twice.context, file);
    await sharp.page.screenshot({ path: `${stem}-2x.png`, fullPage: true });
    must(sharp.problems.length === 0, sharp.problems.join('\n'));
    await twice.close();

    const narrow = await open(2, { viewport: { width: 390, height: 800 } });
    const small = await load(narrow.context, file);
    const beyond = await small.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    must(beyond <= 0, `the page is ${beyond} pixels wider than a narrow screen`);
    await small.page.screenshot({ path: `${stem}-narrow.png`, fullPage: true });
    await narrow.close();
    console.log(`ok: ${file}: loaded in ${milliseconds} ms, slider ${took.sliding} ms for 8 steps, hover ${took.hovering} ms`);
  } catch (error) {
    failed = true;
    console.error(`FAILED: ${file}: ${error.message}`);
  }
}
process.exit(failed ? 1 : 0);

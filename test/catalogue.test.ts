import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readableJson } from '../bin/catalogue/json.ts'
import { catalogueFolder, cataloguePages } from '../bin/catalogue/pages.ts'
import { settingRows } from '../bin/catalogue/settings.ts'

test('the committed catalogue is of the modules as they are', async () => {
  const pages = await cataloguePages()
  expect((await readdir(catalogueFolder)).toSorted()).toEqual([...pages.keys()].toSorted())
  for (const [name, now] of pages) {
    const committed = await readFile(path.join(catalogueFolder, name), 'utf8')
    expect(
      committed === now,
      `docs/catalogue/${name} is not what the module's manifest, settings and examples say. ` +
        'Run `npm run catalogue` and commit what it wrote.',
    ).toBe(true)
  }
})

test('settings are listed by their dotted names, with items, names and alternatives', () => {
  const number = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
  expect(
    settingRows({
      required: ['rules'],
      properties: {
        rules: { type: 'array', items: { type: 'object', properties: { per: { enum: ['a', 'b'] } } } },
        caps: { type: 'object', additionalProperties: number, default: {}, description: 'Caps.' },
        mode: { anyOf: [{ const: false }, { properties: { deep: { type: 'string', title: 'Deep' } } }] },
      },
    }),
  ).toEqual([
    ['`rules`', 'list of object', 'required', ''],
    ['`rules[].per`', '`a`, `b`', '', ''],
    ['`caps`', 'integer ≥ 1 by name', '`{}`', 'Caps.'],
    ['`mode`', '`false` or any', '', ''],
    ['`mode.deep`', 'string', '', 'Deep'],
  ])
})

test('the JSON of examples reads back as what it was, and its lines fit where they can', () => {
  const value = { a: [1, { b: 'x'.repeat(60) }, { c: null }], empty: {}, list: [], text: 'y'.repeat(50) }
  expect(JSON.parse(readableJson(value))).toEqual(value)
  expect(
    Math.max(
      ...readableJson(value)
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(100)
  expect(readableJson({ a: 1, b: [] })).toBe('{ "a": 1, "b": [] }')
})

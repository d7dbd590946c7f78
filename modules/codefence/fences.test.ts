import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { blockContext, blocksIn, longestBlock, openFrom } from './fences.ts'

const codes = (text: string): [label: string, code: string][] =>
  blocksIn(text, 0).map(({ label, start, end }) => [label, text.slice(start, end)])

describe('blocks', () => {
  test.each([
    ['with a label', 'a\n```js\nx\n```\nb', [['js', 'x\n']]],
    ['without one', '```\nx\n```', [['', 'x\n']]],
    ['of tildes', '~~~ Python title="a"\nx\n~~~', [['python', 'x\n']]],
    ['with attributes', '```{.bash}\nx\n```', [['bash', 'x\n']]],
    ['in a list', '1. do\n   ```sh\n   x\n   ```\n2. go', [['sh', '   x\n']]],
    ['in a quotation', '> ```sh\n> x\n> ```', [['sh', '> x\n']]],
    ['right behind a bullet', '- ```sh\n  x\n  ```', [['sh', '  x\n']]],
    ['that is not closed', '```sh\nx', [['sh', 'x']]],
    ['with shorter fences in it', '````md\n```sh\nx\n```\n````\n', [['md', '```sh\nx\n```\n']]],
    [
      'that another one ends',
      '```sh\nx\n```js\ny\n```',
      [
        ['sh', 'x\n'],
        ['js', 'y\n'],
      ],
    ],
    [
      'one after the other',
      '```\nx\n```\nprose\n```\ny\n```',
      [
        ['', 'x\n'],
        ['', 'y\n'],
      ],
    ],
    ['that are code in a line', 'use ```x``` or ``y``', []],
  ])('%s', (_, text, expected) => expect(codes(text)).toEqual(expected))
})

test('what is too long to be read is one block of that length', () => {
  const [block] = blocksIn(`\`\`\`sh\n${'x\n'.repeat(longestBlock)}\`\`\`\n`, 0)
  expect(block!.end - block!.start).toBe(longestBlock + 1)
})

test('prose and closed blocks leave at once, and an open block waits', () => {
  const waits = (text: string): string => text.slice(openFrom(text, 0))
  expect(waits('Some prose')).toBe('')
  expect(waits('Some prose\n')).toBe('')
  expect(waits('Some prose\n``')).toBe('``')
  expect(waits('Some prose\n```py')).toBe('```py')
  expect(waits('Some prose\n```py\nx = 1')).toBe('x = 1')
  expect(waits('```py\nx\n``')).toBe('x\n``')
  expect(waits('```py\nx\n```\nMore')).toBe('')
})

test('a stream is read as the whole text, for every way of cutting it', () => {
  const detection: Detection = {
    reach: blockContext,
    context: blockContext,
    scan: (text, _place, _call, from) =>
      blocksIn(text, from)
        .map(({ start, end }) => ({
          start,
          end,
          label: 'code',
          action: 'replace' as const,
          replacement: 'CODE\n',
        }))
        .filter(({ start, end }) => start >= from && end > start),
    open: (text, _call, from) => openFrom(text, from),
  }
  const parts = fc.constantFrom(
    '```',
    '````',
    '~~~',
    '`',
    '~',
    '\n',
    'js',
    'x',
    ' ',
    '> ',
    '- ',
    '1. ',
    'prose ',
    '\n```\n',
    '\n```sh\n',
  )
  const text = fc.array(parts, { maxLength: 24 }).map((all) => all.join(''))
  fc.assert(
    fc.property(cutText(text), (pieces) => {
      expect(piecesThrough(pieces, [detection]).join('')).toBe(redactedWhole(pieces.join(''), [detection]))
    }),
    runs(1000),
  )
})

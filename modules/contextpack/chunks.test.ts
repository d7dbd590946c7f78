import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { longest } from './chunk.ts'
import { chunksOf } from './chunks.ts'

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

describe('the chunks of a document', () => {
  test('have all words of a text in their order, and none is too long', () => {
    const text = fc.array(
      fc.constantFrom('rain', 'Über', '猫', '.', '. ', ' ', '\n', '\n\n', 'x'.repeat(700)),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(text, (parts) => {
        const content = parts.join('')
        const chunks = chunksOf(content, 'text')
        for (const chunk of chunks) expect(chunk.text.length).toBeLessThanOrEqual(longest.chunk)
        expect(chunks.flatMap((chunk) => words(chunk.text)).join('')).toBe(words(content).join(''))
      }),
    )
  })

  test('never cut a character in two', () => {
    for (const { text } of chunksOf('😀'.repeat(2000), 'text')) expect(text.isWellFormed()).toBe(true)
  })

  test('of Markdown stand under their headings, and code is no heading', () => {
    const content = '# Dog\nBarks.\n\n## Food ##\nMeat.\n\n```\n# no heading\n\nx\n```\n\n# Cat\nPurrs.'
    expect(chunksOf(content, 'markdown')).toEqual([
      { path: ['Dog'], text: 'Barks.' },
      { path: ['Dog', 'Food'], text: 'Meat.\n\n```\n# no heading\n\nx\n```' },
      { path: ['Cat'], text: 'Purrs.' },
    ])
  })

  test('of HTML are its text under headings, without scripts, styles and comments', () => {
    const content = `<html><head><title>Pets &amp; more</title><style>p{}</style></head><body><h1>Dogs</h1><!-- <p>secret</p> --><p>They
      <b>bark</b>.</p><script>var a = "<p>no</p>"</script><ul><li title="a > b">Loud</li></ul><h2>Old&#32;ones</h2>Sleep 3 < 4 hours</body>`
    expect(chunksOf(content, 'html')).toEqual([
      { path: ['Pets & more', 'Dogs'], text: 'They bark.\n\nLoud' },
      { path: ['Pets & more', 'Dogs', 'Old ones'], text: 'Sleep 3 < 4 hours' },
    ])
  })

  test('of JSON are its values under their fields', () => {
    const long = (word: string): string => `${word} `.repeat(120).trim()
    const content = JSON.stringify({ pets: { dog: long('bark'), cat: long('purr') }, size: 3 })
    expect(chunksOf(content, 'json')).toEqual([
      { path: ['pets', 'dog'], text: long('bark') },
      { path: ['pets', 'cat'], text: long('purr') },
      { path: ['size'], text: '3' },
    ])
    expect(() => chunksOf('{', 'json')).toThrow('not JSON')
    expect(() => chunksOf('['.repeat(5000) + ']'.repeat(5000), 'json')).toThrow('not JSON')
  })

  test.each([
    '<a "',
    "<a '",
    '<!-- ',
    '<script>',
    '<',
    '<!',
    '&#',
    '<title',
    '# ',
    '```\n',
    '\n ',
    '[',
    ' #',
  ])('of a document full of %j are made in time that grows with its length', { timeout: 20_000 }, (piece) => {
    const content = piece.repeat(400_000 / piece.length)
    for (const format of ['html', 'markdown', 'text'] as const) chunksOf(content, format)
  })

  test('under a long heading or field are made in time that grows with its length', {
    timeout: 20_000,
  }, () => {
    const name = 'a '.repeat(50_000)
    const cases = {
      markdown: `# ${name}\n\n${'b\n\n'.repeat(30_000)}`,
      html: `<h1>${name}</h1>${'<p>b'.repeat(30_000)}`,
      json: JSON.stringify({ [name]: Array.from({ length: 30_000 }, () => 1) }),
    } as const
    for (const format of ['markdown', 'html', 'json'] as const)
      expect(chunksOf(cases[format], format)[0]?.path[0]).toBe('a '.repeat(25))
  })
})

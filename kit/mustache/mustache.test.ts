import fc from 'fast-check'
import Mustache from 'mustache'
import { describe, expect, test } from 'vitest'
import { Filling, most } from './fill.ts'
import { namesIn } from './names.ts'
import { parse } from './parse.ts'
import { resolved, slugsIn } from './partials.ts'

const filled = (text: string, values: object, optional: readonly string[] = []) => {
  const filling = new Filling(
    values as Record<string, unknown>,
    (name) => optional.includes(name),
    'variables',
  )
  return { text: filling.text(parse(text, 'content')), missing: [...filling.missing] }
}

describe('a text', () => {
  test.each([
    ['Hello {{name}}!', { name: '<b> & "x"' }, 'Hello <b> & "x"!'],
    ['{{{name}}} {{&name}}', { name: '<b>' }, '<b> <b>'],
    ['{{n}} {{yes}} {{nothing}}.', { n: 0, yes: false, nothing: null }, '0 false .'],
    ['{{list}} {{user}}', { list: [1, 'a'], user: { a: 1 } }, '[1,"a"] {"a":1}'],
    ['{{user.name.first}}', { user: { name: { first: 'Ada' } } }, 'Ada'],
    [
      '{{#items}}- {{title}} ({{unit}})\n{{/items}}',
      { unit: 'kg', items: [{ title: 'a' }, { title: 'b' }] },
      '- a (kg)\n- b (kg)\n',
    ],
    ['{{#items}}{{.}},{{/items}}', { items: ['a', 1] }, 'a,1,'],
    ['{{#show}}yes{{/show}}{{^show}}no{{/show}}', { show: true }, 'yes'],
    ['{{#show}}yes{{/show}}{{^show}}no{{/show}}', { show: [] }, 'no'],
    ['{{! a note }}a\n{{! alone }}\nb', {}, 'a\nb'],
  ])('%j is filled with %j', (text, values, expected) => {
    expect(filled(text, values)).toEqual({ text: expected, missing: [] })
  })

  test('names all that it lacks where a tag is reached, and nothing that may be left out', () => {
    const text = '{{a}}{{#b}}{{c}}{{/b}}{{^d}}{{e}}{{/d}}{{u.v}}'
    expect(filled(text, { b: false, u: {} }, ['d']).missing).toEqual(['a', 'e', 'u.v'])
    expect(filled(text, { b: true, u: {} }, ['d']).missing).toEqual(['a', 'c', 'e', 'u.v'])
    expect(filled(text, {}, ['a', 'b', 'd', 'e', 'u'])).toEqual({ text: '', missing: [] })
  })

  test('reads own fields of plain data and nothing else', () => {
    const text = '{{a.length}}|{{l.length}}|{{o.toString}}|{{valueOf}}'
    expect(filled(text, { a: 'text', l: [1], o: {} }).missing).toEqual([
      'a.length',
      'l.length',
      'o.toString',
      'valueOf',
    ])
    const inherited = Object.create({ secret: 'x' }) as object
    expect(filled('{{secret}}', inherited).missing).toEqual(['secret'])
    for (const name of ['constructor', '__proto__', 'a.prototype'])
      expect(() => parse(`{{${name}}}`, 'content')).toThrow('a name has letters')
  })

  test('stops before it gets too large, also where it repeats nothing', () => {
    const items = Array.from({ length: 1000 }, () => ({}))
    expect(() => filled('{{#a}}{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}{{/a}}', { a: items })).toThrow('too many')
    const long = 'x'.repeat(most.characters / 100)
    expect(filled('{{#a}}{{long}}{{/a}}', { a: items.slice(0, 100), long }).text).toHaveLength(
      most.characters,
    )
    const refusal = expect.objectContaining({ status: 413, param: 'variables' })
    expect(() => filled('{{#a}}{{long}}{{/a}}', { a: items.slice(0, 101), long })).toThrow(refusal)
  })
})

test.each([
  ['a\n  {{name', 'line 2, column 9: unclosed tag'],
  ['{{#a}}', 'line 1, column 7: unclosed section "a"'],
  ['x{{/a}}', 'line 1, column 2: unopened section "a"'],
  ['{{#a}}{{/b}}', 'line 1, column 7: unclosed section "a"'],
  ['{{=<% %>=}}<% a %>', 'line 1, column 1: delimiters cannot be changed'],
  ['{{=<%=}}', 'this is no Mustache'],
  ['{{}}', 'a name has letters'],
  ['{{a b}}', 'a name has letters'],
  ['\n{{> ../x}}', 'line 2, column 1: a partial is named by the slug'],
  [`${'{{#a}}'.repeat(21)}${'{{/a}}'.repeat(21)}`, 'more than 20 sections'],
])('%j is refused with its place', (text, message) => {
  const refusal = expect.objectContaining({
    status: 400,
    param: 'content',
    message: expect.stringContaining(message),
  })
  expect(() => parse(text, 'content')).toThrow(refusal)
})

const name = fc.constantFrom('a', 'b', 'c')
const plain = fc.oneof(fc.constantFrom('x', ' ', '\n', '<&>'), fc.integer().map(String))
const { template } = fc.letrec<{ template: string }>((tie) => ({
  template: fc
    .array(
      fc.oneof(
        { maxDepth: 3 },
        plain,
        name.map((one) => `{{${one}}}`),
        fc
          .tuple(fc.constantFrom('#', '^'), name, tie('template'))
          .map(([kind, one, inner]) => `{{${kind}${one}}}${inner}{{/${one}}}`),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join('')),
}))
const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
const flat = fc.record({ a: scalar, b: scalar, c: scalar }, { requiredKeys: [] })
const value = fc.oneof(scalar, fc.array(flat, { maxLength: 3 }), flat)

test('what is filled is what the library fills, where a tag shows no list and no object', () => {
  const values = fc.record({ a: value, b: value, c: value })
  fc.assert(
    fc.property(template, values, (text, view) => {
      const copy = JSON.parse(JSON.stringify(view)) as Record<string, unknown>
      const shows = (tag: string): boolean => typeof copy[tag] === 'object' && copy[tag] !== null
      fc.pre(!['a', 'b', 'c'].some((tag) => shows(tag) && text.includes(`{{${tag}}}`)))
      expect(filled(text, copy).text).toBe(Mustache.render(text, copy, undefined, { escape: String }))
    }),
  )
})

test('any text is filled or refused with 400 and a place', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{{{',
    '}}}',
    '#',
    '/',
    '^',
    '>',
    '&',
    '!',
    '=',
    'a',
    '.',
    ' ',
    '\n',
  )
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 30 }), (text) => {
      try {
        namesIn(parse(text, 'content'))
      } catch (error) {
        expect(error).toMatchObject({
          status: 400,
          param: 'content',
          message: expect.stringContaining('line '),
        })
      }
    }),
  )
})

test('partials take the places of their tags, each as often as it is named', () => {
  const text = '{{> a}} and {{#x}}{{> b}}{{/x}} and {{> a}}'
  const nodes = parse(text, 'content')
  expect(slugsIn(nodes)).toEqual(['a', 'b'])
  const whole = resolved(text, nodes, (slug) => `<${slug} {{n}}>`, 'content')
  expect(whole).toBe('<a {{n}}> and {{#x}}<b {{n}}>{{/x}} and <a {{n}}>')
  const large = () => resolved(text, nodes, () => 'x'.repeat(70_000), 'content')
  expect(large).toThrow(expect.objectContaining({ status: 413, param: 'content' }))
})

test('names are fields inside of sections over lists and objects', () => {
  const nodes = parse(
    '{{#items}}{{title}}{{#more}}{{x}}{{/more}}{{/items}}{{^items}}{{none}}{{/items}}',
    'content',
  )
  expect([...namesIn(nodes).keys()]).toEqual(['items', 'title', 'more', 'x', 'none'])
  expect([...namesIn(nodes, new Set(['items'])).keys()]).toEqual(['items', 'none'])
})

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../../kit/canonical/forms.ts'
import { bpe, tokensOfBpe, unigram } from '../../../../test/tokenizer-files.ts'
import { TokenCounter } from '../counter.ts'
import { countRequest } from '../request.ts'
import { finderOf, type TokenizerFile } from './file.ts'
import { openTokenizerFile } from './open.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tokenizers-'))
})

afterAll(() => rm(folder, { recursive: true }))

let last = 0

/** A folder with these files, and the entry that names its tokenizer. */
async function brought(
  files: Readonly<Record<string, unknown>>,
  entry: Partial<TokenizerFile> = {},
): Promise<TokenizerFile> {
  last += 1
  const at = path.join(folder, String(last))
  await mkdir(at)
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(at, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return { name: `own-${last}`, models: ['acme-*'], file: path.join(at, 'tokenizer.json'), ...entry }
}

const template =
  '{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if tools %}{{ tools[0].function.name }}{% endif %}{% if add_generation_prompt %}<|model|>{% endif %}'
const hello: ModelRequest = { model: 'acme-1', messages: [{ role: 'user', content: 'hello world' }] }

describe('a tokenizer.json', () => {
  it('with merges counts what they leave, and bytes of what is not in it', async () => {
    const { count, facts } = await openTokenizerFile(await brought({ 'tokenizer.json': bpe }))
    expect(facts).toEqual({
      tokens: tokensOfBpe,
      conversations: false,
      tools: false,
    })
    expect(['', 'hello', 'hello world', 'lo', 'é', '😀'].map(count)).toEqual([0, 1, 4, 2, 2, 4])
  })

  it('with scores counts the likeliest pieces, and unknown characters in a row as one', async () => {
    const { count } = await openTokenizerFile(await brought({ 'tokenizer.json': unigram }))
    expect(['hello', 'hello world', 'hell', '漢字', 'hello 漢字'].map(count)).toEqual([1, 2, 3, 2, 3])
  })

  it('takes control tokens in texts for text', async () => {
    const entry = await brought({
      'tokenizer.json': bpe,
      'chat_template.jinja': '<s>{{ messages[0].content }}',
    })
    const tokenizer = await openTokenizerFile(entry)
    expect(tokenizer.count('<s>')).toBe(3)
    expect(tokenizer.conversation?.(hello)?.tokens).toBe(5)
  })

  it('with bytes takes no more tokens than a text has bytes, and each of those that nothing else stands for', async () => {
    const { count } = await openTokenizerFile(await brought({ 'tokenizer.json': bpe }))
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(count(text)).toBeLessThanOrEqual(Buffer.byteLength(text))
        expect(count(`${text}😀`)).toBe(count(text) + 4)
      }),
    )
  })
})

describe('a conversation', () => {
  const count = async (entry: TokenizerFile, request: ModelRequest) =>
    countRequest(request, await openTokenizerFile(entry))

  it('is counted by the template beside the tokenizer, with the tokens that its configuration names', async () => {
    const config = { bos_token: { content: '<s>' }, chat_template: template }
    const entry = await brought({ 'tokenizer.json': bpe, 'tokenizer_config.json': config })
    expect(await count(entry, hello)).toEqual({
      tokens: 7,
      tools: 0,
      images: 0,
      by: entry.name,
      quality: 'tokenizer',
    })
    const tools = [{ type: 'function', function: { name: 'hello' } }] as const
    expect(await count(entry, { ...hello, tools })).toMatchObject({ tokens: 8, tools: 1, quality: 'rules' })
  })

  it('is counted by the template that is named, whatever stands beside the tokenizer', async () => {
    const beside = { 'tokenizer.json': bpe, 'chat_template.jinja': '{{ nothing }}' }
    const other = await brought({ 'other.jinja': '<s>{{ messages[0].content }}' })
    const named = await brought(beside, { chatTemplate: path.join(path.dirname(other.file), 'other.jinja') })
    expect((await count(named, hello)).tokens).toBe(5)
    const config = {
      chat_template: [
        { name: 'rag', template: 'no' },
        { name: 'default', template: '<s>' },
      ],
    }
    const listed = await brought({ 'tokenizer_config.json': config })
    const file = path.join(path.dirname(listed.file), 'tokenizer_config.json')
    expect((await count(await brought(beside, { chatTemplate: file }), hello)).tokens).toBe(1)
  })

  it('gives its template the arguments of calls as objects', async () => {
    const shown =
      '{% for m in messages %}{% if m.tool_calls %}{{ m.tool_calls[0].function.arguments.q }}{% endif %}{% endfor %}<s>{{ tools }}'
    const entry = await brought({ 'tokenizer.json': bpe, 'chat_template.jinja': shown })
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"q": "hello"}' } } as const
    const messages = [{ role: 'assistant', content: null, tool_calls: [call] }] as const
    expect((await count(entry, { model: 'acme-1', messages })).tokens).toBe(2)
  })

  it('without a template, or that its template refuses, is an estimate, and its texts are not', async () => {
    const bare = await brought({ 'tokenizer.json': bpe })
    expect(await count(bare, hello)).toMatchObject({ by: bare.name, quality: 'estimate' })
    expect(await count(bare, { model: 'acme-1', input: 'hello' })).toMatchObject({
      tokens: 1,
      quality: 'tokenizer',
    })
    const refusing = "{% if messages|length > 1 %}{{ raise_exception('one at a time') }}{% endif %}<s>"
    const strict = await brought({ 'tokenizer.json': bpe, 'chat_template.jinja': refusing })
    const messages = [...hello.messages!, ...hello.messages!]
    expect(await count(strict, { ...hello, messages })).toMatchObject({ quality: 'estimate' })
  })
})

describe('a file that is wrong says so in a line', () => {
  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['is not there', {}, /tokenizer\.json: the file does not exist$/],
    ['is not JSON', { 'tokenizer.json': '{"model": ' }, /tokenizer\.json: it is not JSON$/],
    ['is something else', { 'tokenizer.json': { name: 'x' } }, /it is not a tokenizer\.json: model /],
    ['is a list', { 'tokenizer.json': [] }, /it is not a tokenizer\.json: all of it /],
    [
      'has no merges',
      { 'tokenizer.json': { ...bpe, model: { type: 'BPE', vocab: {} } } },
      /model\.merges is not a list of merges$/,
    ],
    [
      'has a vocabulary of texts',
      { 'tokenizer.json': { ...bpe, model: { ...bpe.model, vocab: { a: 'b' } } } },
      /model\.vocab is not a map of tokens to their ids$/,
    ],
    [
      'has an unknown step',
      { 'tokenizer.json': { ...bpe, pre_tokenizer: { type: 'Magic' } } },
      /it cannot be used: Unknown PreTokenizer type: Magic$/,
    ],
    [
      'has a broken expression',
      {
        'tokenizer.json': {
          ...bpe,
          pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated', invert: false },
        },
      },
      /tokenizer\.json: it cannot be used: Invalid regular expression/,
    ],
    [
      'counts nothing',
      { 'tokenizer.json': { ...bpe, model: { type: 'BPE', vocab: {}, merges: [] } } },
      /it counts nothing of a text$/,
    ],
    [
      'has a broken template',
      { 'tokenizer.json': bpe, 'chat_template.jinja': '{% for %}' },
      /chat_template\.jinja: it cannot be used: /,
    ],
    [
      'has a template that takes nothing',
      { 'tokenizer.json': bpe, 'chat_template.jinja': "{{ raise_exception('no') }}" },
      /chat_template\.jinja: it cannot be used: it cannot render a plain question$/,
    ],
    [
      'has a template that needs more',
      { 'tokenizer.json': bpe, 'chat_template.jinja': '{{ bos_token }}' },
      /it uses bos_token: put the tokenizer_config\.json/,
    ],
    [
      'has a broken configuration',
      { 'tokenizer.json': bpe, 'tokenizer_config.json': '[' },
      /tokenizer_config\.json: it is not JSON$/,
    ],
  ])('that %s', async (_, files, message) => {
    const entry = await brought(files)
    const error = await openTokenizerFile(entry).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ name: 'TokenizerFileError', message: expect.stringMatching(message) })
    expect((error as Error).message).not.toContain('\n')
  })

  it('that is no file, or not the named template', async () => {
    const entry = await brought({})
    await expect(openTokenizerFile({ ...entry, file: path.dirname(entry.file) })).rejects.toThrow(
      'not a file',
    )
    const pipe = path.join(path.dirname(entry.file), 'zeros')
    await symlink('/dev/zero', pipe)
    await expect(openTokenizerFile({ ...entry, file: pipe })).rejects.toThrow('not a file')
    const lost = await brought({ 'tokenizer.json': bpe }, { chatTemplate: path.join(folder, 'none.jinja') })
    await expect(openTokenizerFile(lost)).rejects.toThrow('none.jinja: the file does not exist')
  })
})

it('finds the first file that knows a model, by its name with and without what stands before it', () => {
  const file = (name: string, ...models: string[]) => ({ name, models, file: '/x' })
  const find = finderOf([file('a', 'gemma-3-*'), file('b', 'google/gemma-*', 'kimi?k2')])
  const names = ['google/Gemma-3-27b', 'gemma-3-4b', 'google/gemma-2-9b', 'gemma-2-9b', 'KIMI-K2', 'gpt-4o']
  expect(names.map((model) => find(model)?.name)).toEqual(['a', 'a', 'b', undefined, 'b', undefined])
})

describe('the counter', { timeout: 60_000 }, () => {
  const slow = { type: 'Split', pattern: { Regex: '(x+x+)+y' }, behavior: 'Isolated', invert: false }

  it('counts by the first file that knows the model, before what came with the gateway', async () => {
    const entry = await brought({ 'tokenizer.json': bpe }, { models: ['gpt-4o'] })
    const counter = new TokenCounter({ files: [entry] })
    const { input, output } = await counter.count({ model: 'openai/gpt-4o', input: 'hello' }, ['hello world'])
    expect(input).toMatchObject({ tokens: 1, by: entry.name, quality: 'tokenizer' })
    expect(output).toBe(4)
    expect([counter.knows('gpt-4o'), counter.knows('acme-1')]).toEqual([true, false])
    expect((await counter.count({ model: 'gpt-4', input: 'hello' })).input.by).toBe('cl100k_base')
    await counter.close()
  })

  it('ends a file that takes forever, leaves it alone from then on, and counts on for the others', async () => {
    const entry = await brought({ 'tokenizer.json': { ...bpe, pre_tokenizer: slow } })
    const warned: object[] = []
    const log = { warn: (facts: object) => void warned.push(facts) }
    const counter = new TokenCounter({ files: [entry], limitMs: 5_000, log })
    const text = 'x'.repeat(40)
    const [stuck, other] = await Promise.all([
      counter.count({ model: 'acme-1', input: text }, [text]),
      counter.count({ model: 'gpt-4o', input: 'hello' }),
    ])
    expect(stuck.input).toMatchObject({ by: 'estimate', quality: 'estimate' })
    expect(stuck.output).toBeGreaterThan(0)
    expect(other.input).toMatchObject({ tokens: 1, by: 'o200k_base' })
    expect(warned).toEqual([{ tokenizer: entry.name, model: 'acme-1', reason: 'took longer than 5 s' }])
    expect((await counter.count({ model: 'acme-1', input: 'hello' })).input.by).toBe('estimate')
    await counter.close()
  })

  it('estimates while a file is gone, and counts by it when it is back', async () => {
    const entry = await brought({})
    const counter = new TokenCounter({ files: [entry] })
    const request = { model: 'acme-1', input: 'hello world' }
    expect((await counter.count(request)).input).toMatchObject({ by: 'estimate', quality: 'estimate' })
    await writeFile(entry.file, JSON.stringify(unigram))
    expect((await counter.count(request)).input).toMatchObject({ tokens: 2, quality: 'tokenizer' })
    await counter.close()
  })

  it('tries each file in a thread that may break, and says what it found', async () => {
    const good = await brought({
      'tokenizer.json': bpe,
      'chat_template.jinja': '<s>{{ messages[0].content }}',
    })
    const endless = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}'
    const files = [
      good,
      await brought({ 'tokenizer.json': '{' }),
      await brought({ 'tokenizer.json': bpe, 'chat_template.jinja': endless }),
      { ...good, name: 'again' },
    ]
    const checked = await new TokenCounter({ files, limitMs: 5_000 }).check()
    const facts = { tokens: expect.any(Number), conversations: true, tools: false }
    expect(checked.map(({ found }) => found)).toEqual([
      facts,
      { problem: expect.stringContaining('it is not JSON'), broke: false },
      {
        problem: expect.stringMatching(/^(took longer than 5 s|broke the thread that counts)/),
        broke: true,
      },
      facts,
    ])
  })
})

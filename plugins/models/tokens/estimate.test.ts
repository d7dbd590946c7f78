import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimatorOf } from './estimate.ts'
import { Tokenizers } from './tokenizers.ts'

const prose =
  'The gateway counts in a thread of its own, which starts when it is first needed, and no call waits for it. '
/** Of the Universal Declaration of Human Rights, article 1. */
const article = {
  english:
    'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience.',
  german:
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt.',
  russian:
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью.',
  chinese: '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
  japanese: 'すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。',
  korean: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
  hindi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।',
  code: 'export function add(left: number, right: number): number {\n  return left + right // a sum\n}\n',
}

describe('an estimate', { timeout: 60_000 }, () => {
  const models = [
    'gpt-4o',
    'gpt-4',
    'llama-3.3-70b',
    'qwen3-32b',
    'deepseek-chat',
    'mistral-small-2503',
    'mistral-large-2407',
  ]

  it.each(models)('for %s is within half of the real count in every script', async (model) => {
    const tokenizer = await new Tokenizers().load(model)
    for (const text of Object.values(article)) {
      const ratio = estimatorOf(model).count(text) / tokenizer.count(text)
      expect([text, ratio > 0.5 && ratio < 1.5]).toEqual([text, true])
    }
  })

  it('for a model of whose tokenizer nothing is known is the usual one', () => {
    expect(estimatorOf('claude-opus-5').count(article.chinese)).toBeGreaterThan(article.chinese.length / 2)
    expect(estimatorOf('claude-opus-5').count(prose) / (prose.length / 4)).toBeCloseTo(1, 0)
  })

  it('of a long text is that of its pieces, and takes no longer', () => {
    const { count } = estimatorOf('gpt-4o')
    const once = count(prose.repeat(100)) / 100
    expect(count(prose.repeat(20_000)) / 20_000 / once).toBeCloseTo(1, 1)
    const started = performance.now()
    for (let i = 0; i < 100; i++) count(prose.repeat(20_000))
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('is whole, never negative, and nothing for nothing', () => {
    const estimator = estimatorOf('qwen3-32b')
    expect([estimator.count(''), estimator.countAll([]), estimator.countAll(['', ''])]).toEqual([0, 0, 0])
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 3000 })), (texts) => {
        const tokens = estimator.countAll(texts)
        expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true)
        expect(tokens > 0).toBe(texts.some((text) => text !== ''))
      }),
    )
  })

  it('of pieces adds up to that of the whole', () => {
    const { count, weigh } = estimatorOf('gpt-4o')
    const sum = [...prose].reduce((all, piece) => all + weigh(piece), 0)
    expect(Math.ceil(sum - 1e-9)).toBe(count(prose))
  })
})

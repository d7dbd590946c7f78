import type { CompleteOptions } from '../../kernel/contract/calls.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { vectorsOf } from '../text/vectors.ts'

/**
 * The embeddings of texts by a model, in the order of the texts. Rejects when the model cannot be asked, or does not answer with one
 * embedding of numbers for each text.
 */
export async function embed(
  { complete }: Pick<Context<unknown>, 'complete'>,
  model: string,
  texts: readonly string[],
  options: CompleteOptions = {},
): Promise<readonly (readonly number[])[]> {
  const vectors = vectorsOf(
    await complete({ model, input: texts, encoding_format: 'float' }, options),
    texts.length,
  )
  if (!vectors) throw new Error(`${model} did not give one embedding for each text`)
  return vectors.map((vector) => {
    if (typeof vector === 'string' || !vector.every(Number.isFinite))
      throw new Error(`${model} did not give numbers`)
    return vector
  })
}

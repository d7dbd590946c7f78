import type { Call, StructuredOutput, Target } from '#kernel'

/** The service takes no form together with tools or documents; its older models and those of Aya know none. */
export function structuredOutput({ request }: Call, { model }: Target): StructuredOutput {
  const { tools, documents } = request
  const isBeside = [tools, documents].some((list) => Array.isArray(list) && list.length > 0)
  return /^command-[ar]/.test(model) && !isBeside ? 'native' : 'instruction'
}

import type { GenerateBody } from './schema.ts'
import { signatureOf, signs } from './signature.ts'

type Part = GenerateBody['contents'][number]['parts'][number]

/** What is wrong between contents or fields that are each right by themselves; undefined for other bodies. */
export function conversationError(
  { contents, tools, toolConfig, generationConfig }: GenerateBody,
  model: string,
): string | undefined {
  const { thinkingLevel: level } = generationConfig?.thinkingConfig ?? {}
  if (level !== undefined && !levelsOf(model).includes(level)) {
    return `Thinking level ${level.toUpperCase()} is not supported for this model.`
  }
  const isJson = generationConfig?.responseMimeType === 'application/json'
  if (isJson && model.startsWith('gemma')) return `JSON mode is not enabled for models/${model}`
  if (isJson && tools?.some(({ functionDeclarations: fns }) => fns?.length) && !signs(model)) {
    return "Function calling with a response mime type: 'application/json' is unsupported"
  }
  for (const [index, { role, parts }] of contents.entries()) {
    const answers = parts.filter(({ functionResponse }) => functionResponse)
    const before = contents[index - 1]
    const calls = before?.role === 'model' ? before.parts.filter(({ functionCall }) => functionCall) : []
    if (answers.length > 0 && role === 'model') return 'function response parts must come from the user'
    if (answers.length !== calls.length) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    for (const [place, { functionResponse }] of answers.entries()) {
      if (functionResponse?.parts && !signs(model))
        return 'Multimodal function responses are not supported for this model.'
      if (functionResponse?.name !== calls[place]?.functionCall?.name) {
        return 'Please ensure that function response parts have the names of the function call parts.'
      }
    }
    if (role === 'model' && signs(model)) {
      const error = signatureError(parts, index)
      if (error) return error
    }
  }
  if (contents.at(-1)?.role === 'model' && contents.at(-1)?.parts.some(({ functionCall }) => functionCall)) {
    return 'Please ensure that function call turn is followed by a function response turn.'
  }
  const declared = (tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  const config = toolConfig?.functionCallingConfig
  if (config && declared.length === 0) return 'Function calling config is set without function_declarations.'
  const unknown = config?.allowedFunctionNames?.find((name) => !declared.some((one) => one.name === name))
  return unknown && `allowed_function_names: ${unknown} is not declared`
}

/** How hard a model can be told to think in words. */
function levelsOf(model: string): readonly string[] {
  if (!signs(model)) return []
  if (!/-pro/.test(model)) return ['minimal', 'low', 'medium', 'high']
  return /gemini-3-pro/.test(model) ? ['low', 'high'] : ['low', 'medium', 'high']
}

/** The first call of a turn must have the signature it was given. */
function signatureError(parts: readonly Part[], index: number): string | undefined {
  const first = parts.find(({ functionCall }) => functionCall)
  if (!first?.functionCall) return undefined
  const { name, args } = first.functionCall
  if (first.thoughtSignature === undefined) {
    return `Function call is missing a thought_signature in functionCall parts. Function call \`${name}\`, position ${index}.`
  }
  const known = [signatureOf(name, args), 'skip_thought_signature_validator']
  return known.includes(first.thoughtSignature) ? undefined : 'Thought signature is not valid.'
}

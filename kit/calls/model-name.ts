/** The name of the model of a call. */
export interface ModelName {
  /** The provider that is named outright, by `X-Provider` or in front of the model; undefined where routing decides. */
  readonly provider: string | undefined
  /** The model's name at its provider: `openai/gpt-4o` of `openrouter/openai/gpt-4o`. */
  readonly name: string
  /** The model without its maker or provider: `gpt-4o`. */
  readonly model: string
}

/** What of a call its model is read from. */
interface AskedModel {
  readonly request: { readonly model: string }
  readonly context: { readonly provider: string | undefined }
  readonly trace: { readonly chain?: { isProvider(name: string): boolean } | undefined }
}

/** The one reading of a call's model: what stands in front of it is a provider only where the gateway has one of that name. */
export function modelName({ request: { model }, context, trace }: AskedModel): ModelName {
  const slash = model.indexOf('/')
  const first = slash > 0 ? model.slice(0, slash) : undefined
  const isProvider = first !== undefined && (trace.chain?.isProvider(first) ?? false)
  const provider = context.provider ?? (isProvider ? first : undefined)
  const name = first !== undefined && first === provider ? model.slice(slash + 1) : model
  return { provider, name, model: name.slice(name.lastIndexOf('/') + 1) }
}

import { z } from 'zod'
import { internalError, type Provider, type Target, UpstreamError } from '#kernel'

/** Reads what service.yaml says under `options`, once for each configuration. The reader throws a coded error. */
export function optionsReader<S extends z.ZodType>(schema: S): (provider: Provider) => z.infer<S> {
  return once((provider: Provider) => {
    const { data, error } = schema.safeParse(provider.options)
    if (!error) return data
    const problem = z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')
    throw internalError(`providers.${provider.name}.options: ${problem}`)
  })
}

/** Reads what a manifest says under `quirks`, once for each manifest. The reader throws what the schema does. */
export function quirksReader<S extends z.ZodType>(schema: S): (provider: Provider) => z.infer<S> {
  const read = once((spec: Provider['spec']) => schema.parse(spec.quirks))
  return ({ spec }) => read(spec)
}

function once<K extends object, V>(read: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>()
  return (key) => {
    let held = known.get(key)
    if (!held) {
      held = { value: read(key) }
      known.set(key, held)
    }
    return held.value
  }
}

/** The provider did not speak its language, or fell silent when the type is `timeout`. */
export function protocolError(
  { provider, model }: Target,
  what: string,
  detail: { retryable: boolean; native?: string; type?: string; status?: number; cause?: unknown },
): UpstreamError {
  return new UpstreamError('provider_error', `The provider ${provider.name} ${what}.`, {
    provider: provider.name,
    model,
    fault: detail.type === 'timeout' ? 'timeout' : 'protocol',
    ...detail,
  })
}

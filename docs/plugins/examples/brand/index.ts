import { Chunk, defineModule, isUpstreamError, providerError } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    models: z.record(z.string(), z.string()).default({}).meta({
      title: 'Models',
      description: 'The name that clients see, by the name that the provider gives.',
    }),
  }),

  setup({ settings }) {
    const names = new Map(Object.entries(settings.models))
    const renamed = <T extends { model?: string }>(said: T): T => {
      const model = said.model === undefined ? undefined : names.get(said.model)
      return model === undefined ? said : { ...said, model }
    }
    return {
      show: {
        body: renamed,
        stream: () => ({ push: (chunk, out) => out.emit(Chunk.of(renamed(chunk.data))) }),
        error: (error) =>
          isUpstreamError(error) ? providerError('The model did not answer. Try again.') : error,
        headers(headers) {
          headers['x-served-by'] = 'acme'
          delete headers['x-params-changed']
        },
      },
    }
  },
})

import path from 'node:path'
import { ConfigError, defineArea, kernelServices, ModelCatalogue, Pricing, TokenCounting } from '#kernel'
import { ProviderDirectory } from '#provider'
import { Catalogue } from './catalogue.ts'
import { createPrices } from './prices.ts'
import { sections } from './sections.ts'
import { TokenCounter } from './tokens/counter.ts'
import { configuredTokenizers, tokenizerProblems } from './tokens/files/configured.ts'

export default defineArea({
  settings: sections,
  async setup(context) {
    const { settings, log, provide, own, find, inEachThread } = context
    const { dataDir, file } = context.use(kernelServices.config)
    const priceId = (provider: string): string => find(ProviderDirectory)?.priceId(provider) ?? provider
    const catalogue = await Catalogue.open({
      dataDir,
      overrides: settings.models,
      priceId,
      log,
      inEachThread: (run) => inEachThread('rescan', run),
    })
    const folder = file ? path.dirname(file) : process.cwd()
    const tokens = new TokenCounter({ files: configuredTokenizers(settings.tokenizers, folder), log })
    own(() => tokens.close())
    const problems = tokenizerProblems(await tokens.check())
    if (problems.length > 0) throw new ConfigError(problems)
    provide(ModelCatalogue, catalogue)
    const isFree = (provider: string): boolean => find(ProviderDirectory)?.isFree(provider) ?? false
    provide(Pricing, createPrices({ overrides: settings.prices, priceId, catalogue, isFree }))
    provide(TokenCounting, tokens)
  },
})

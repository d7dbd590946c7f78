import { Delivery, defineArea, kernelServices, ModelCatalogue, Routing } from '#kernel'
import { personalOfUsers } from '#kit'
import {
  arrangementOf,
  Moderation,
  ProviderDirectory,
  ProviderEntries,
  ProviderKeys,
  ProviderProber,
  RouteRules,
  TokenInquiries,
} from '#provider'
import { Dispatcher } from './delivery/dispatch.ts'
import { targetsOf } from './delivery/targets.ts'
import { checkEntry } from './directory/check-entry.ts'
import { keepsSettings, leadsOf } from './directory/leads.ts'
import { providerOf } from './directory/provider.ts'
import { isProviderAfter } from './directory/provider-after.ts'
import { optionProblems } from './directory/provider-options.ts'
import { RouteTable } from './directory/route-table.ts'
import { RuntimeProviders } from './directory/runtime-providers.ts'
import { Directory } from './directory.ts'
import { carryOver } from './earlier-store.ts'
import { KeyStore } from './keys/key-store.ts'
import { Moderator } from './moderator.ts'
import { Prober } from './probe.ts'
import { sections } from './sections.ts'
import { TokenInquiry } from './token-inquiry.ts'
import { Transport } from './transport/transport.ts'

export default defineArea({
  settings: sections,
  async setup(context) {
    const { settings, store, log, own, provide, use } = context
    const registry = use(kernelServices.registry)
    const on = () => arrangementOf(registry.generation)
    await carryOver(use(kernelServices.storage), store)
    const keys = new KeyStore(store, use(kernelServices.secrets))
    if ((await keys.encryptPlain(log)) > 0) await use(kernelServices.storage).compact()
    context.personal(
      personalOfUsers({ count: (id) => keys.count(id), erase: (id) => keys.deleteOf(id) }, ['deletion']),
    )
    const isPlugin = (name: string): boolean => on().providers.has(name)
    const routes = await RouteTable.open(settings.routes, context, {
      isThere: (name, after) =>
        isProviderAfter(name, after, { configured: settings.providers, runtime, registry, isPlugin }),
      leads: (after) =>
        leadsOf(on(), directory).filter(({ module }) => !after || keepsSettings(module, after, registry)),
      apply: (plan, actor) => registry.apply(plan, actor),
    })
    const env = use(kernelServices.environment)
    const runtime: RuntimeProviders = await RuntimeProviders.open(
      {
        configured: settings.providers,
        isProvider: (name, entry) => providerOf(name, entry, on().providers, env) !== undefined,
        secrets: use(kernelServices.secrets),
        check: (name, entry) => checkEntry(name, entry, { env, running: on }),
        apply: (plan, actor) => registry.apply(plan, actor),
      },
      context,
    )
    const directory: Directory = new Directory({
      entries: settings.providers,
      runtime,
      env,
      specs: () => on().providers,
      protocols: () => on().protocols,
      catalogue: () => on().services.get(ModelCatalogue) as ModelCatalogue | undefined,
      routes,
    })
    const { maxSize, maxTime } = settings.answers
    const limits = { maxSize: maxSize || undefined, maxTime: maxTime || undefined }
    const transport = new Transport({ limits, cohort: use(kernelServices.cohort) })
    own(() => transport.close())
    provide(Delivery, new Dispatcher(directory, keys, transport, log).deliver)
    provide(Routing, {
      isProvider: (name) => directory.find(name) !== undefined,
      targets: (call, asker) => targetsOf(call, { directory, keys, on: on(), asker }),
    })
    provide(ProviderDirectory, directory)
    provide(ProviderEntries, runtime)
    provide(ProviderKeys, keys)
    provide(ProviderProber, new Prober(on, directory, transport))
    provide(Moderation, new Moderator(on, directory, transport))
    provide(RouteRules, routes)
    provide(TokenInquiries, new TokenInquiry(on, transport))
    context.verify(() => optionProblems(settings.providers, directory, on()))
  },
})

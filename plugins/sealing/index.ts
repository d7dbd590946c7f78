import { z } from 'zod'
import { defineArea, kernelServices, Sealing, Signing } from '#kernel'
import { addKeyRoutes } from './routes.ts'
import { Salts } from './salts.ts'
import { sealingWith } from './seals.ts'
import { SigningKeys } from './signing-keys.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const { store, own, provide, personal, use } = context
    const secrets = () => use(kernelServices.secrets)
    const salts = new Salts(store)
    own(salts.watch())
    personal({
      // The records of a deleted account may be sealed, and stay.
      on: ['request'],
      count: async (subject) => ((await salts.has(subject)) ? 1 : 0),
      erase: async (subject) => ((await salts.delete(subject)) ? 1 : 0),
    })
    provide(Sealing, sealingWith(secrets, salts))
    const signing = new SigningKeys(store, secrets)
    provide(Signing, signing)
    addKeyRoutes(context, signing)
  },
})

/** How the product is operated: it determines where data planes run and which features plans include. */
export const EDITIONS = ['self_hosted', 'saas', 'enterprise_hybrid'] as const;
export type Edition = (typeof EDITIONS)[number];

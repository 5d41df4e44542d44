import './boot.ts';
import './styles.css';
// The theme of the system is followed from the start.
import './app/theme.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries.ts';
import { router } from './app/router.tsx';
import { startI18n } from './i18n/i18n.ts';
import { FreshLogin } from './app/fresh-login.tsx';
import { Confirmations } from './ui/confirm.tsx';
import { startTips } from './ui/tips.ts';
import { Toasts } from './ui/toast.tsx';

const place = document.querySelector('#root');
if (!place) throw new Error('The page has no #root.');

startTips();
// Not awaited: a language imports from this module, which has to have ended first.
void startI18n().then(() => {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Confirmations />
        <FreshLogin />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
});

/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/fatal-errors.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <sys/mman.h>
#include <system_error>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace cosim
{

namespace
{

/// Twice the stack that the main thread usually has. Memory is used only as far as it is touched.
constexpr std::size_t STACK_BYTES = std::size_t{1} << 24;

struct StackBounds
{
    const void* lowest{nullptr};
    std::size_t bytes{0};
};

/// Tell AddressSanitizer that the program is about to switch to another stack. Otherwise it takes
/// what an exception leaves behind there for errors.
/// @param saved receives what AddressSanitizer keeps of this stack; null if the stack is done
void
AnnounceSwitch([[maybe_unused]] void** saved, [[maybe_unused]] const StackBounds& next)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(saved, next.lowest, next.bytes);
#endif
}

/// Tell AddressSanitizer that the program has switched to this stack.
/// @param saved what AnnounceSwitch has saved of this stack; null if the stack is new
/// @param previous receives the stack that the program has left
void
ConfirmSwitch([[maybe_unused]] void* saved, [[maybe_unused]] StackBounds& previous)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(saved, &previous.lowest, &previous.bytes);
#endif
}

/// Tell AddressSanitizer that a stack stays for good, so that what it refers to is no leak.
void
KeepStack([[maybe_unused]] const StackBounds& stack)
{
#if defined(__SANITIZE_ADDRESS__)
    __lsan_register_root_region(stack.lowest, stack.bytes);
#endif
}

/// A function that runs on a stack of its own.
class GuardedCall
{
  public:
    explicit GuardedCall(const std::function<void()>& function)
        : m_function(function),
          m_stack(mmap(nullptr,
                       STACK_BYTES,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
                       -1,
                       0))
    {
        if (m_stack == MAP_FAILED)
        {
            throw std::system_error(errno, std::generic_category(), "no memory for a stack");
        }
        mprotect(m_stack, GUARD_BYTES, PROT_NONE); // stacks grow down to here
        m_cerr = std::cerr.rdbuf(m_text.rdbuf());
        m_previous = std::set_terminate(&GuardedCall::OnTerminate);
    }

    /// The stack of a function that ns-3 has ended stays, as it will never be unwound.
    ~GuardedCall()
    {
        std::set_terminate(m_previous);
        std::cerr.rdbuf(m_cerr);
        if (!m_isEnded)
        {
            munmap(m_stack, STACK_BYTES);
            std::cerr << m_text.str();
        }
    }

    GuardedCall(const GuardedCall&) = delete;
    GuardedCall& operator=(const GuardedCall&) = delete;

    /// @return the text of a fatal error; empty if the function returned
    std::string Run()
    {
        GuardedCall* const outer = g_current;
        g_current = this;
        getcontext(&m_inside);
        m_inside.uc_stack.ss_sp = m_stack;
        m_inside.uc_stack.ss_size = STACK_BYTES;
        m_inside.uc_link = &m_outside;
        makecontext(&m_inside, &GuardedCall::Enter, 0);
        StackBounds own{m_stack, STACK_BYTES};
        void* saved = nullptr;
        AnnounceSwitch(&saved, own);
        swapcontext(&m_outside, &m_inside);
        ConfirmSwitch(saved, own);
        g_current = outer;
        if (m_error)
        {
            std::rethrow_exception(m_error);
        }
        return m_isEnded ? Describe(m_text.str()) : "";
    }

  private:
    static void Enter()
    {
        GuardedCall& call = *g_current;
        ConfirmSwitch(nullptr, call.m_caller);
        try
        {
            call.m_function();
        }
        catch (...)
        { // an exception must not leave the stack
            call.m_error = std::current_exception();
        }
        AnnounceSwitch(nullptr, call.m_caller);
    }

    [[noreturn]] static void OnTerminate()
    {
        if (g_current != nullptr) // null in a thread without a call
        {
            g_current->m_isEnded = true;
            void* saved = nullptr; // never used, but not null because the stack stays
            KeepStack({g_current->m_stack, STACK_BYTES});
            AnnounceSwitch(&saved, g_current->m_caller);
            setcontext(&g_current->m_outside);
        }
        std::abort();
    }

    /// @return what ns-3 wrote, without its last line, in one line
    static std::string Describe(const std::string& text)
    {
        std::istringstream words(text.substr(0, text.find("\nNS_FATAL")));
        std::string line;
        for (std::string word; words >> word;)
        {
            line += (line.empty() ? "" : " ") + word;
        }
        return line.empty() ? "std::terminate was called" : line;
    }

    static constexpr std::size_t GUARD_BYTES = 4096;
    static thread_local GuardedCall* g_current;

    const std::function<void()>& m_function;
    void* const m_stack;
    StackBounds m_caller; //!< the stack of the caller; only AddressSanitizer knows and needs it
    ucontext_t m_outside{};
    ucontext_t m_inside{};
    std::ostringstream m_text; //!< what is written to std::cerr meanwhile
    std::streambuf* m_cerr{nullptr};
    std::terminate_handler m_previous{nullptr};
    std::exception_ptr m_error;
    bool m_isEnded{false};
};

thread_local GuardedCall* GuardedCall::g_current = nullptr;

} // namespace

std::string
CatchFatalErrors(const std::function<void()>& function)
{
    GuardedCall call(function);
    return call.Run();
}

} // namespace cosim

/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_STATES_H
#define COSIM_STEP_STATES_H

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The states of the steps of a running part.
 *
 * Steps have numbers in the order in which they become ready, so only a few that follow each other
 * are active at a time. The states are therefore divided into pages. A page takes memory from the
 * first change of one of its steps until all its steps are done. A part of millions of steps, which
 * runs many times at once, then needs little memory, and what it needs stays in the caches.
 */
class StepStates
{
  public:
    /// Marks "no bundle".
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// Number of steps of a page.
    static constexpr uint32_t PAGE = 512;

    /// The state of a step that is not done.
    struct State
    {
        uint32_t pending; //!< see PartShape::GetPending
        uint32_t bundle;  //!< its bundle, or NONE; used only with a BundleNetwork
    };

    /// Memory of pages that are done, for pages of any part.
    using Spare = std::vector<std::vector<State>>;

    /**
     * Begin a new part. No step has changed.
     *
     * @param pending per step, without turns: its initial counter; must outlive the part
     * @param steps number of steps, without turns
     * @param turnBits number of low bits of the id of a step that hold its turn
     * @param turns number of turns of each step; ids with other turns are not in use
     */
    void Begin(const uint32_t* pending, uint32_t steps, uint32_t turnBits = 0, uint32_t turns = 1);

    /// @return the end of the ids of the steps
    uint32_t GetSize() const
    {
        return m_steps;
    }

    /// @return the counter of a step: the initial one as long as nothing has changed, 0 once done
    uint32_t GetPending(uint32_t step) const
    {
        const Page& page = m_pages[step / PAGE];
        if (!page.states.empty())
        {
            return page.states[step % PAGE].pending;
        }
        return page.left != 0 ? m_initial[step >> m_turnBits] : 0;
    }

    /**
     * @param step a step that is not done
     * @param spare memory for its page
     * @return its state, valid until a step of the same page is done
     */
    State& Get(uint32_t step, Spare& spare)
    {
        Page& page = m_pages[step / PAGE];
        if (page.states.empty())
        {
            Open(step / PAGE, spare);
        }
        return page.states[step % PAGE];
    }

    /**
     * Record that the state of a step, whose counter is 0, is not needed any more.
     *
     * @param step a step that is not done
     * @param spare receives the memory of its page, if the page is done
     */
    void Finish(uint32_t step, Spare& spare)
    {
        Page& page = m_pages[step / PAGE];
        if (page.states.empty())
        {
            Open(step / PAGE, spare);
        }
        if (--page.left == 0)
        {
            Close(page, spare);
        }
    }

  private:
    struct Page
    {
        std::vector<State> states; //!< empty before the first change and when all steps are done
        uint32_t left{0};          //!< number of steps that are not done
    };

    void Open(uint32_t page, Spare& spare);
    static void Close(Page& page, Spare& spare);

    const uint32_t* m_initial{nullptr};
    uint32_t m_steps{0};
    uint32_t m_turnBits{0};
    std::vector<Page> m_pages;
};

} // namespace cosim

#endif // COSIM_STEP_STATES_H

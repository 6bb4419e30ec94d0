/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_STATES_H
#define COSIM_STEP_STATES_H

#include "support/slot-pool.h"
#include "system/step-ids.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The states of the steps of a running part.
 *
 * Steps that run at about the same time have ids that follow each other (see PartShape and
 * StepIds), so only a few such steps are active at a time. The states are therefore divided into
 * pages. A page takes memory from the first change of one of its steps until all its steps are
 * done. A part of millions of steps, which runs many times at once, then needs little memory, and
 * what it needs stays in the caches.
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

    /// Memory for the pages of any part.
    using Spare = SlotPool<std::array<State, PAGE>>;

    /**
     * Begin a new part. No step has changed.
     *
     * @param pending per step, without turns: its initial counter; must outlive the part
     * @param ids the ids of the steps
     */
    void Begin(const uint32_t* pending, const StepIds& ids);

    /// @return the counter of a step: the initial one as long as nothing has changed, 0 once done
    uint32_t GetPending(uint32_t step) const
    {
        const Page& page = m_pages[step / PAGE];
        if (page.states != nullptr)
        {
            return page.states[step % PAGE].pending;
        }
        return page.left != 0 ? m_initial[m_ids.GetIndex(step)] : 0;
    }

    /**
     * @param step a step that is not done
     * @param spare memory for its page
     * @return its state, valid until a step of the same page is done
     */
    State& Get(uint32_t step, Spare& spare)
    {
        Page& page = m_pages[step / PAGE];
        if (page.states == nullptr)
        {
            Open(step / PAGE, spare);
        }
        return page.states[step % PAGE];
    }

    /**
     * Record that a step waits for one other step less.
     *
     * @param step a step that waits for another step
     * @param spare memory for its page
     */
    void Advance(uint32_t step, Spare& spare)
    {
        --Get(step, spare).pending;
    }

    /**
     * Record that the state of a step, whose counter is 0, is not needed any more.
     *
     * @param step a step that is not done
     * @param spare memory for its page, which it gets back if the page is done
     */
    void Finish(uint32_t step, Spare& spare)
    {
        Page& page = m_pages[step / PAGE];
        if (page.states == nullptr)
        {
            Open(step / PAGE, spare);
        }
        if (--page.left == 0)
        {
            Close(step / PAGE, spare);
        }
    }

  private:
    struct Page
    {
        State* states{nullptr}; //!< null before the first change and when all steps are done
        uint32_t left{0};       //!< number of steps that are not done
        uint32_t slot{0};       //!< of its memory in a Spare; unless it is in m_rest
    };

    void Open(uint32_t page, Spare& spare);
    void Close(uint32_t page, Spare& spare);

    /// @return the number of steps of a page
    uint32_t GetSize(uint32_t page) const
    {
        return std::min(m_ids.GetEnd() - page * PAGE, PAGE);
    }

    const uint32_t* m_initial{nullptr};
    StepIds m_ids;
    std::vector<Page> m_pages;
    std::vector<State> m_rest; //!< memory of the last page, if it is smaller than the others
};

} // namespace cosim

#endif // COSIM_STEP_STATES_H

/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/chunk-queue.h"

#include <utility>

namespace cosim
{

ChunkQueue::ChunkQueue(uint32_t slots, Scheduling scheduling)
    : m_limit(slots),
      m_free(slots),
      m_lifo(scheduling == Scheduling::LIFO)
{
}

void
ChunkQueue::Add(uint32_t collective, uint32_t chunks, uint32_t priorityClass, uint32_t issue)
{
    m_courses[collective] = {priorityClass, issue, 0, std::vector<State>(chunks)};
    m_collectives[issue] = collective;
}

void
ChunkQueue::Wait(uint32_t collective,
                 uint32_t chunk,
                 uint32_t count,
                 uint32_t phase,
                 uint32_t place)
{
    const Course& course = m_courses.at(collective);
    m_waiting.insert({course.priorityClass,
                      true,
                      GetOrder(course.issue),
                      chunk,
                      ~phase,
                      collective,
                      place,
                      count});
    const auto end = m_data.lower_bound({collective, place, chunk + count});
    for (auto data = m_data.lower_bound({collective, place, chunk}); data != end; ++data)
    {
        Prefer(collective, (*data)[2], place);
    }
}

void
ChunkQueue::NoteData(uint32_t collective, uint32_t chunk, uint32_t place)
{
    if (m_data.insert({collective, place, chunk}).second && m_courses.contains(collective))
    {
        Prefer(collective, chunk, place);
    }
}

/// If a chunk waits, let it start before the chunks that lack data.
void
ChunkQueue::Prefer(uint32_t collective, uint32_t chunk, uint32_t place)
{
    const Course& course = m_courses.at(collective);
    // Go back from the last entry that can hold the chunk.
    auto entry = m_waiting.lower_bound(
        {course.priorityClass, true, GetOrder(course.issue), chunk + 1, 0, 0, 0, 0});
    do
    {
        if (entry == m_waiting.begin())
        {
            return;
        }
        --entry;
        if (entry->collective != collective || !entry->lacksData)
        {
            return;
        }
    } while (entry->place != place || entry->chunk + entry->count <= chunk);
    const Waiting whole = *entry;
    m_waiting.erase(entry);
    const auto insert = [this, &whole](bool lacksData, uint32_t begin, uint32_t end) {
        if (begin != end)
        {
            Waiting part = whole;
            part.lacksData = lacksData;
            part.chunk = begin;
            part.count = end - begin;
            m_waiting.insert(part);
        }
    };
    insert(true, whole.chunk, chunk);
    insert(false, chunk, chunk + 1);
    insert(true, chunk + 1, whole.chunk + whole.count);
}

std::optional<ChunkQueue::Admitted>
ChunkQueue::TakeNext()
{
    if (m_free == 0 || m_waiting.empty())
    {
        return {};
    }
    if (m_free > 1)
    {
        return Take(m_waiting.begin());
    }
    const Course& course = m_courses.at(m_collectives.begin()->second);
    if (course.chunks[course.lowest] == State::HERE)
    {
        return Take(m_waiting.begin());
    }
    // All chunks below the lowest one have passed, so it is the first of the entry that holds it.
    for (const bool lacksData : {false, true})
    {
        const auto oldest = m_waiting.lower_bound(
            {course.priorityClass, lacksData, GetOrder(course.issue), course.lowest, 0, 0, 0, 0});
        if (oldest != m_waiting.end() && oldest->lacksData == lacksData &&
            oldest->collective == m_collectives.begin()->second && oldest->chunk == course.lowest)
        {
            return Take(oldest);
        }
    }
    return {};
}

ChunkQueue::Admitted
ChunkQueue::Take(std::set<Waiting>::iterator first)
{
    const Admitted admitted{first->collective, first->chunk, first->place};
    auto node = m_waiting.extract(first);
    if (--node.value().count != 0)
    {
        ++node.value().chunk;
        m_waiting.insert(std::move(node));
    }
    m_data.erase({admitted.collective, admitted.place, admitted.chunk});
    m_courses.at(admitted.collective).chunks[admitted.chunk] = State::HERE;
    --m_free;
    return admitted;
}

void
ChunkQueue::Leave(uint32_t collective, uint32_t chunk, bool returns)
{
    ++m_free;
    const auto found = m_courses.find(collective);
    Course& course = found->second;
    course.chunks[chunk] = returns ? State::ELSEWHERE : State::PASSED;
    while (course.lowest < course.chunks.size() && course.chunks[course.lowest] == State::PASSED)
    {
        ++course.lowest;
    }
    if (course.lowest == course.chunks.size())
    {
        m_collectives.erase(course.issue);
        m_courses.erase(found);
    }
}

std::set<uint32_t>
ChunkQueue::GetCollectives() const
{
    std::set<uint32_t> collectives;
    for (const Waiting& waiting : m_waiting)
    {
        collectives.insert(waiting.collective);
    }
    for (const auto& [collective, course] : m_courses)
    {
        for (const State state : course.chunks)
        {
            if (state == State::HERE)
            {
                collectives.insert(collective);
                break;
            }
        }
    }
    return collectives;
}

uint32_t
ChunkQueue::GetOrder(uint32_t issue) const
{
    return m_lifo ? ~issue : issue;
}

} // namespace cosim

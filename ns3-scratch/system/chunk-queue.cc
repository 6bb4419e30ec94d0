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
    m_waiting.insert(
        {course.priorityClass, GetOrder(course.issue), chunk, ~phase, collective, place, count});
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
    const auto oldest = m_waiting.lower_bound(
        {course.priorityClass, GetOrder(course.issue), course.lowest, 0, 0, 0, 0});
    if (oldest == m_waiting.end() || oldest->collective != m_collectives.begin()->second ||
        oldest->chunk != course.lowest)
    {
        return {};
    }
    return Take(oldest);
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

/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PIECE_LINK_CONTROL_H
#define COSIM_PIECE_LINK_CONTROL_H

#include "network/link-control.h"
#include "network/link-routes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

class PieceFabric;

/**
 * Changes the links of a PieceFabric.
 *
 * A pause takes messages apart: of a message that is under way, each rank on its path holds what
 * has come there and has not been sent on, as bytes of a fluid. These pieces continue separately
 * when the pause ends. What is on a link when the pause begins arrives.
 */
class PieceLinkControl : public LinkControl
{
  public:
    /**
     * @param topology of the start, with reconfiguration; outlives this object
     * @param fabric the fabric; outlives this object
     */
    PieceLinkControl(const Topology& topology, PieceFabric& fabric);

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    void Resume() override;

    /// @return the link on which what is at a node continues on its path, or NONE: it waits
    uint32_t GetNext(uint32_t node, uint32_t path) const
    {
        return m_isPaused ? LinkRoutes::NONE : m_routes.GetNext(node, path);
    }

  private:
    void TakeApart(uint32_t piece, uint64_t now);

    PieceFabric& m_fabric;
    LinkRoutes m_routes;
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_PIECE_LINK_CONTROL_H

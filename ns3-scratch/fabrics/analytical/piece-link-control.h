/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PIECE_LINK_CONTROL_H
#define COSIM_PIECE_LINK_CONTROL_H

#include "network/link-control.h"
#include "network/link-routes.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

class PieceFabric;

/**
 * Changes the links of a PieceFabric.
 *
 * A pause divides each message in flight like a fluid: what has left the last link arrives, and the
 * rest continues from its source after the pause. TCP's window keeps all but a little of the data
 * at the source; this estimate has no window, so without this rule whole messages would be stranded
 * at ranks that the new circuits do not serve.
 */
class PieceLinkControl : public LinkControl
{
  public:
    /**
     * @param topology links and paths at the start of the run, with reconfiguration; must outlive
     * this object
     * @param fabric the fabric; must outlive this object
     */
    PieceLinkControl(const Topology& topology, PieceFabric& fabric);

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    uint32_t Reroute() override;
    std::vector<uint32_t> GetBrokenPaths() const override;
    void Resume() override;

    /// @return the link on which a piece continues from a node, or NONE if the piece must wait
    uint32_t GetNext(uint32_t node, uint32_t path) const
    {
        return m_isPaused ? LinkRoutes::NONE : m_routes->GetNext(node, path);
    }

  private:
    void TakeApart(uint32_t piece, uint64_t now);

    PieceFabric& m_fabric;
    std::unique_ptr<LinkRoutes> m_routes;
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_PIECE_LINK_CONTROL_H

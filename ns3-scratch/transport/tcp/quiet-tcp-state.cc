/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/quiet-tcp-state.h"

#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cosim
{

using namespace ns3;

namespace
{

/// Accepts every listener and ignores it.
class IgnoringAccessor : public TraceSourceAccessor
{
  public:
    bool ConnectWithoutContext(ObjectBase* /* object */,
                               const CallbackBase& /* listener */) const override
    {
        return true;
    }

    bool Connect(ObjectBase* /* object */,
                 std::string /* context */,
                 const CallbackBase& /* listener */) const override
    {
        return true;
    }

    bool DisconnectWithoutContext(ObjectBase* /* object */,
                                  const CallbackBase& /* listener */) const override
    {
        return true;
    }

    bool Disconnect(ObjectBase* /* object */,
                    std::string /* context */,
                    const CallbackBase& /* listener */) const override
    {
        return true;
    }
};

/// @return the TypeId, with trace sources that have the names of those of TcpSocketState
TypeId
MakeTypeId()
{
    // The parent is not TcpSocketState, because a type must not repeat the name of a trace source
    // of its parents.
    TypeId tid = TypeId("cosim::QuietTcpState").SetParent<Object>().SetGroupName("Cosim");
    const TypeId original = TcpSocketState::GetTypeId();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < original.GetTraceSourceN(); ++i)
    {
        names.push_back(original.GetTraceSource(i).name);
    }
    // Look-up compares the names in this order, and copying a short name needs no allocation, so
    // the short names come first.
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return a.size() < b.size();
    });
    for (const std::string& name : names)
    {
        tid.AddTraceSource(name, "", Create<IgnoringAccessor>(), "");
    }
    return tid;
}

} // namespace

TypeId
QuietTcpState::GetTypeId()
{
    static const TypeId tid = MakeTypeId();
    return tid;
}

QuietTcpState::QuietTcpState(const TcpSocketState& state)
    : TcpSocketState(state)
{
    m_rxBuffer = state.m_rxBuffer;
}

} // namespace cosim

using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Composition;

// The address that a node binds, the name of its interface as far as it is known, and why it is this one.
internal sealed record InterfaceChoice(IPAddress Address, string? Name, string Why)
{
    private const string Option = nameof(QuickSilverOptions.Interface);

    /// <summary>As the status shows it.</summary>
    public override string ToString() => $"{Address}{(Name is null ? "" : $" ({Name})")}: {Why}";

    /// <param name="wanted">The option.</param>
    /// <param name="known">The interfaces of this machine; null: not known, so an address is used unchanged.</param>
    /// <param name="towards">The address from which the system reaches the membership service, if one is named.</param>
    /// <exception cref="QuickSilverOptionsException">No interface fits, several do, or it is down.</exception>
    /// <param name="family">Of the service's addresses; null: none is named.</param>
    /// <param name="indexOf">The number of the interface with a name that is not in the list; null: the system's.</param>
    public static InterfaceChoice Of(
        NodeInterface wanted,
        IReadOnlyList<LocalInterface>? known,
        IPAddress? towards,
        AddressFamily? family = null,
        Func<string, int>? indexOf = null)
    {
        if (wanted.Address is { } address)
        {
            return OfAddress(address, known);
        }

        if (known is null)
        {
            throw Refused(wanted, "an address, because the system does not report its interfaces");
        }

        return wanted switch
        {
            { Name: { } name } => OfName(wanted, name, known, family, indexOf ?? LocalRoute.IndexOf),
            { Network: { } network } => OfNetwork(wanted, network, known),
            _ => Automatic(known, towards),
        };
    }

    private static InterfaceChoice OfAddress(IPAddress address, IReadOnlyList<LocalInterface>? known)
    {
        var fitting = known is null ? [] : Owners(address, known);
        var found = fitting.FirstOrDefault();
        const string Why = "the option Interface names this address";

        // All of 127.0.0.0/8 belongs to this machine, although its interface lists one address of it.
        if (known is null || IPAddress.IsLoopback(address))
        {
            return new InterfaceChoice(address, found.Interface?.Name, Why);
        }

        return fitting.Length switch
        {
            0 => throw Refused(
                address, $"an address of this machine: {string.Join(", ", known.SelectMany(static one => one.Addresses))}"),
            1 => new InterfaceChoice(found.Address, Up(address, found.Interface).Name, Why),
            _ => throw Refused(
                address,
                "an address with the interface that it is valid on: "
                + string.Join(", ", fitting.Select(one => $"{address}%{one.Interface.Name}"))),
        };
    }

    // A link-local address without its interface may be on several.
    private static (LocalInterface Interface, IPAddress Address)[] Owners(IPAddress wanted, IReadOnlyList<LocalInterface> known) =>
    [
        .. known.SelectMany(static one => one.Addresses, static (one, address) => (Interface: one, Address: address))
            .Where(one => one.Address.Equals(wanted)
                || (wanted is { IsIPv6LinkLocal: true, ScopeId: 0 } && one.Address.IsIPv6LinkLocal
                    && one.Address.GetAddressBytes().AsSpan().SequenceEqual(wanted.GetAddressBytes()))),
    ];

    private static InterfaceChoice OfName(
        NodeInterface wanted, string name, IReadOnlyList<LocalInterface> known, AddressFamily? family, Func<string, int> indexOf)
    {
        var found = known.FirstOrDefault(one => one.Name.Equals(name, StringComparison.OrdinalIgnoreCase))
            ?? (indexOf(name) is not 0 and var index ? known.FirstOrDefault(one => one.Index == index) : null)
            ?? throw Refused(wanted, $"an interface of this machine: {List(known)}");
        var addresses = Up(wanted, found).Addresses
            .Where(one => one.AddressFamily == (family ?? found.Addresses[0].AddressFamily))
            .ToList();
        if (addresses is not [var first, ..])
        {
            string kind = family switch
            {
                AddressFamily.InterNetwork => "an IPv4 address",
                AddressFamily.InterNetworkV6 => "an IPv6 address",
                _ => "an address",
            };
            throw Refused(wanted, $"an interface with {kind}, which {found.Name} does not have: {List(known.Where(HasAddress))}");
        }

        return new InterfaceChoice(
            first,
            found.Name,
            "the option Interface names this interface"
                + (addresses.Count == 1 ? "" : $", and of its {addresses.Count} addresses the node prefers this one"));
    }

    private static InterfaceChoice OfNetwork(NodeInterface wanted, IPNetwork network, IReadOnlyList<LocalInterface> known)
    {
        var fitting = known
            .SelectMany(static one => one.Addresses, static (one, address) => (Interface: one, Address: address))
            .Where(one => network.Contains(one.Address))
            .ToArray();
        if (fitting.Length > 1 && Array.FindAll(fitting, static one => !one.Interface.Floating.Contains(one.Address)) is [var own])
        {
            return new InterfaceChoice(
                own.Address,
                Up(wanted, own.Interface).Name,
                $"the only address of this machine in {network} that is not a floating one");
        }

        return fitting switch
        {
            [var (found, address)] =>
                new InterfaceChoice(address, Up(wanted, found).Name, $"the only address of this machine in {network}"),
            [] => throw Refused(wanted, $"a subnet that contains an address of this machine: {List(known.Where(HasAddress))}"),
            _ => throw Refused(
                wanted,
                $"a subnet that contains one address of this machine, not {fitting.Length}. Use one of them: "
                + string.Join(", ", fitting.Select(static one => $"{one.Address} ({one.Interface.Name})"))),
        };
    }

    private static InterfaceChoice Automatic(IReadOnlyList<LocalInterface> known, IPAddress? towards)
    {
        if (towards is not null)
        {
            string? name = known.FirstOrDefault(one => one.Addresses.Contains(towards))?.Name;
            return new InterfaceChoice(towards, name, "the system reaches the membership service from this address");
        }

        LocalInterface[] usable = [.. known.Where(static one => one is { IsUp: true, CarriesMulticast: true, IsLoopback: false })];
        LocalInterface[] fitting = [.. usable.Where(static one => HasAddress(one, AddressFamily.InterNetwork))];
        if (fitting.Length == 0)
        {
            fitting = [.. usable.Where(static one => HasAddress(one, AddressFamily.InterNetworkV6))];
        }

        if (fitting.Length == 0)
        {
            fitting = [.. usable.Where(static one => one.Addresses.Any(LocalInterfaces.IsLink4))];
        }

        LocalInterface[] routed = [.. fitting.Where(static one => one.HasGateway)];
        return (routed, fitting) switch
        {
            ([var only], _) => Chosen(only, fitting, "the only interface with a default gateway"),
            ([var first, ..], _) => Chosen(first, routed, "the first interface with a default gateway"),
            (_, [var only]) => Chosen(only, fitting, "the only interface that is up and carries multicast"),
            (_, [var first, ..]) => Chosen(first, fitting, "the first interface that is up and carries multicast"),
            _ => new InterfaceChoice(
                IPAddress.Loopback,
                known.FirstOrDefault(static one => one.IsLoopback)?.Name,
                "no other interface is up, carries multicast and has an address, so only programs on this machine are found"),
        };
    }

    private static InterfaceChoice Chosen(LocalInterface chosen, IReadOnlyList<LocalInterface> among, string why) => new(
        chosen.Addresses[0],
        chosen.Name,
        among.Count == 1 ? why : $"{why}, of {List(among)}");

    private static LocalInterface Up(object wanted, LocalInterface found) => found.IsUp
        ? found
        : throw Refused(wanted, $"an interface that is up, which {found.Name} is not. Bring it up, or use another");

    private static bool HasAddress(LocalInterface one) => one.Addresses.Count > 0;

    // The first is never a link-local one then, which others can use on one link only.
    private static bool HasAddress(LocalInterface one, AddressFamily family) =>
        one.Addresses is [{ IsIPv6LinkLocal: false } first, ..] && first.AddressFamily == family && !LocalInterfaces.IsLink4(first);

    private static string List(IEnumerable<LocalInterface> some) => string.Join(", ", some);

    private static QuickSilverOptionsException Refused(object wanted, string allowed) =>
        new([$"The option {Option} is {wanted}. Allowed: {allowed}."]);
}

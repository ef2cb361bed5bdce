using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace QuickSilver.Hosting;

/// <summary>Adds a QuickSilver node to a host.</summary>
public static class QuickSilverServiceCollectionExtensions
{
    /// <summary>The health check that fails while the node's core thread is blocked.</summary>
    public const string LiveCheck = "quicksilver-live";

    /// <summary>
    /// The health check that fails until the node has joined and opened its topics, and while the membership service is unreachable.
    /// </summary>
    public const string ReadyCheck = "quicksilver-ready";

    /// <summary>
    /// Adds a node with the default options, or the options that are configured elsewhere for <see cref="QuickSilverOptions"/>. The node
    /// starts in the background with the host. Invalid options fail the host's start. This also adds health checks named
    /// <see cref="LiveCheck"/> (tag "live") and <see cref="ReadyCheck"/> (tag "ready").
    /// </summary>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddOptions<QuickSilverOptions>().ValidateOnStart();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IValidateOptions<QuickSilverOptions>, OptionsCheck>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<NodeStarter>(static _ => QuickSilverNode.StartAsync);
        if (services.All(static service => service.ServiceType != typeof(NodeHolder)))
        {
            services.AddSingleton<NodeHolder>();
            services.AddSingleton<IQuickSilverNodeAccessor>(static provider => provider.GetRequiredService<NodeHolder>());
            services.AddSingleton<NodeLifetime>();
            services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<NodeLifetime>());
            services.AddHealthChecks()
                .Add(new HealthCheckRegistration(
                    LiveCheck, static provider => Check(provider, isReadiness: false), null, ["live", "quicksilver"]))
                .Add(new HealthCheckRegistration(
                    ReadyCheck, static provider => Check(provider, isReadiness: true), null, ["ready", "quicksilver"]));
        }

        return new QuickSilverBuilder(services);
    }

    /// <summary>
    /// Adds a node whose options are bound by name from a configuration section. An unknown name in the section fails the host's start.
    /// </summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        var builder = services.AddQuickSilver();
        services.Configure<QuickSilverOptions>(options => OptionsBinding.Bind(section, options));
        return builder;
    }

    /// <summary>Adds a node and sets its options in code.</summary>
    /// <inheritdoc cref="AddQuickSilver(IServiceCollection)"/>
    public static QuickSilverBuilder AddQuickSilver(this IServiceCollection services, Action<QuickSilverOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        var builder = services.AddQuickSilver();
        services.Configure(configure);
        return builder;
    }

    private static NodeHealthCheck Check(IServiceProvider provider, bool isReadiness) =>
        new(provider.GetRequiredService<NodeHolder>(), [.. provider.GetServices<IHostedTopic>()], isReadiness);
}
